#include "crossilo/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace crossilo {

int EditDistance(std::string_view a, std::string_view b) {
  // Optimal string alignment: row[i % 3] holds the distances of a's first i
  // letters, and a swap looks two rows back.
  std::vector<std::vector<int>> row(3, std::vector<int>(b.size() + 1));
  for (size_t j = 0; j <= b.size(); ++j) row[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& now = row[i % 3];
    const auto& last = row[(i - 1) % 3];
    now[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int differ = a[i - 1] != b[j - 1];
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + differ});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], row[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return row[a.size() % 3][b.size()];
}

std::string Nearest(std::string_view typed, const std::vector<std::string>& known) {
  std::string best;
  int least = static_cast<int>(std::max<size_t>(2, typed.size() / 3)) + 1;
  for (const auto& name : known) {
    const int distance = EditDistance(typed, name);
    if (distance < least && distance < static_cast<int>(name.size())) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string Suggestion(std::string_view typed, const std::vector<std::string>& known) {
  const std::string best = Nearest(typed, known);
  if (!best.empty()) return fmt::format("; did you mean '{}'?", best);
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

}  // namespace crossilo

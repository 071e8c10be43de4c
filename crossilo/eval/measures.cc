#include "crossilo/eval/measures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace crossilo {
namespace {

// Independent sums, because one waits for every addition before it; added up
// at the end in a fixed order.
constexpr size_t kLanes = 8;

double Total(const double (&lanes)[kLanes]) {
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

double Sum(std::span<const double> values) {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t l = 0; l < kLanes; ++l) lanes[l] += values[i + l];
  }
  for (; i < values.size(); ++i) lanes[0] += values[i];
  return Total(lanes);
}

// Ranks are below 2^31 (Evaluate sees to it): the conversion of a signed
// number to double is one instruction, that of an unsigned one is several.
double Precision(size_t h, uint32_t rank) {
  return static_cast<double>(static_cast<int32_t>(h)) / static_cast<int32_t>(rank);
}

}  // namespace

double AveragePrecision(std::span<const uint32_t> hit_ranks) {
  if (hit_ranks.empty()) return 0;
  double lanes[kLanes] = {};
  size_t h = 0;
  for (; h + kLanes <= hit_ranks.size(); h += kLanes) {
    for (size_t l = 0; l < kLanes; ++l) lanes[l] += Precision(h + l + 1, hit_ranks[h + l]);
  }
  for (; h < hit_ranks.size(); ++h) lanes[0] += Precision(h + 1, hit_ranks[h]);
  return Total(lanes) / static_cast<double>(hit_ranks.size());
}

std::vector<double> Inverses(uint32_t n) {
  std::vector<double> inverses(size_t{n} + 1);
  for (uint32_t k = 1; k <= n; ++k) inverses[k] = 1.0 / k;
  return inverses;
}

double TieAwareAveragePrecision(std::span<const Ranking::Group> groups,
                                std::span<const double> inverses) {
  double sum = 0, before = 0, hits = 0;  // T and P
  for (const Ranking::Group& group : groups) {
    const double t = group.size, r = group.relevant;
    if (r > 0) {
      const double s = Sum(inverses.subspan(static_cast<size_t>(before) + 1, group.size));
      const double others = t > 1 ? (r - 1) / (t - 1) * (t - (before + 1) * s) : 0;
      sum += r / t * ((hits + 1) * s + others);
    }
    before += t;
    hits += r;
  }
  return hits > 0 ? sum / hits : 0;
}

double ChanceAveragePrecision(int64_t n, int64_t relevant, double harmonic) {
  if (relevant == 0) return 0;
  if (n == 1) return 1;
  const double size = static_cast<double>(n);
  return (harmonic + static_cast<double>(relevant - 1) / (size - 1) * (size - harmonic)) / size;
}

void InterpolatedPrecision(std::span<const uint32_t> hit_ranks, std::span<double> levels) {
  const size_t hits = hit_ranks.size(), steps = levels.size() - 1;
  double best = 0;
  size_t end = hits;
  for (size_t level = levels.size(); level-- > 0;) {
    // The fewest hits with recall >= level / steps; a precision needs one.
    const size_t first = std::max<size_t>((level * hits + steps - 1) / steps, 1);
    for (size_t h = first; h <= end; ++h) best = std::max(best, Precision(h, hit_ranks[h - 1]));
    end = std::min(end, first - 1);
    levels[level] = best;
  }
}

std::vector<double> Discounts(int n) {
  std::vector<double> discounts(static_cast<size_t>(n) + 1);
  for (int k = 1; k <= n; ++k) discounts[k] = 1 / std::log2(k + 1.0);
  return discounts;
}

double DiscountedGain(std::span<const uint16_t> gains, std::span<const double> discounts) {
  double sum = 0;
  for (size_t j = 0; j < gains.size(); ++j) sum += gains[j] * discounts[j + 1];
  return sum;
}

std::vector<uint16_t> LargestGains(std::span<const uint16_t> gains, size_t count) {
  std::vector<uint16_t> largest(std::min(count, gains.size()));
  std::partial_sort_copy(gains.begin(), gains.end(), largest.begin(), largest.end(),
                         std::greater<>());
  return largest;
}

}  // namespace crossilo

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/data/describe.h"

namespace crossilo {
namespace {

constexpr size_t kMostColumns = 20;  // classes shown as numbers

// Columns on a terminal: code points, which is right for all but a few scripts.
size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](unsigned char byte) { return (byte & 0xc0) != 0x80; });
}

std::string Padding(const std::string& text, size_t width) {
  return std::string(width - std::min(width, Width(text)), ' ');
}

using Table = std::vector<std::vector<std::string>>;

// The first column stands left, the others right.
std::string Aligned(const Table& table) {
  std::vector<size_t> width(table[0].size());
  for (const auto& row : table) {
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], Width(row[c]));
  }
  std::string out;
  for (const auto& row : table) {
    std::string line = row[0] + Padding(row[0], width[0]);
    for (size_t c = 1; c < row.size(); ++c) line += "  " + Padding(row[c], width[c]) + row[c];
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string Heat(const std::vector<int64_t>& counts, int64_t most) {
  static const char* const kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out = "|";
  for (int64_t count : counts) {
    out +=
        kBlocks[count == 0 ? 0 : std::min<int64_t>(8, 1 + count * 8 / std::max<int64_t>(1, most))];
  }
  return out + "|";
}

int64_t Most(const Description& d) {
  int64_t most = 0;
  for (const auto& row : d.counts) most = std::max(most, *std::max_element(row.begin(), row.end()));
  return most;
}

std::string Facts(const Description& d) {
  std::string out = fmt::format("{}: {} samples\n", d.name, d.samples);
  out += fmt::format("  image    {} dimensions, {}\n", d.image_dims, d.image_type);
  out += fmt::format("  text     {} dimensions, {}\n", d.text_dims, d.text_type);
  for (const auto& [level, classes] : d.levels) {
    out += fmt::format("  labels   {}{} classes", level.empty() ? "" : level + ": ", classes);
    if (level == d.level) out += fmt::format(", {:.2f} a sample", d.labels_per_sample);
    out += "\n";
  }
  if (d.levels.empty()) out += "  labels   none\n";
  for (const auto& [split, rows] : d.splits) out += fmt::format("  split    {}: {}\n", split, rows);
  if (!d.licence.empty()) out += "  licence  " + d.licence + "\n";
  if (!d.source.empty()) out += "  source   " + d.source + "\n";
  return out;
}

}  // namespace

std::string DescribeText(const Description& d) {
  std::string out = Facts(d);
  if (d.rows.empty()) return out;
  const bool heat = d.classes.size() > kMostColumns;
  // Long names would make a wide table: numbers then, and a list below.
  const bool named = !heat && std::all_of(d.classes.begin(), d.classes.end(),
                                          [](const auto& name) { return Width(name) <= 8; });
  Table table = {{d.row_word}};
  for (size_t c = 0; c < d.classes.size() && !heat; ++c) {
    table[0].push_back(named ? d.classes[c] : std::to_string(c + 1));
  }
  if (heat) table[0].push_back(fmt::format("{} classes", d.classes.size()));
  table[0].push_back("total");
  if (!d.classes.empty()) table[0].push_back("classes");
  for (size_t i = 0; i < d.rows.size(); ++i) {
    std::vector<std::string> row = {d.rows[i]};
    if (heat) row.push_back(Heat(d.counts[i], Most(d)));
    for (size_t c = 0; c < d.classes.size() && !heat; ++c) {
      row.push_back(std::to_string(d.counts[i][c]));
    }
    row.push_back(std::to_string(d.totals[i]));
    if (!d.classes.empty()) row.push_back(std::to_string(d.present[i]));
    table.push_back(row);
  }
  out += "\n";
  out += Aligned(table);
  if (heat) out += fmt::format("A full block is {} samples, the largest count.\n", Most(d));
  for (size_t c = 0; c < d.classes.size() && !heat && !named; ++c) {
    out += fmt::format("{:>4} = {}\n", c + 1, d.classes[c]);
  }
  if (d.row_word == "silo" && !d.classes.empty()) {
    out += fmt::format(
        "Imbalance {:.3f}: mean over the silos of half the summed differences between a silo's "
        "class shares and those of all silos together; 0 is none.\n",
        d.imbalance);
  }
  return out;
}

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// What a person sees of each sample: a table with a header line and one row a
// sample, in UTF-8, columns separated by tabs.  The columns id, caption and
// picture (a file below the dataset's folder) have a meaning to us; any other,
// such as "house", can be partitioned by or shown.
struct Items {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  bool empty() const { return rows.empty(); }
  bool Has(std::string_view column) const;
  // The cell, or "" where there is no such column or row.
  std::string_view Cell(int64_t row, std::string_view column) const;
};

// Tabs, line ends and backslashes inside a cell are written as \t, \n, \r, \\.
Items ReadItems(const std::filesystem::path& path);
void WriteItems(const std::filesystem::path& path, const Items& items);

}  // namespace crossilo

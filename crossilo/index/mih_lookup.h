#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "crossilo/codes/scan.h"
#include "crossilo/index/mih_found.h"
#include "crossilo/index/mih_tables.h"

namespace crossilo {

// Finds a query's codes bucket by bucket, the nearest keys first.
class MihLookup {
 public:
  explicit MihLookup(const MihTables& tables) : tables_(tables) {}

  // What ends a search: everything within the radius, or, where it is growing,
  // as many as are wanted; and what a scan would take instead.
  struct Task {
    int radius = 0;
    bool growing = false;
    double scan_ns = 0;
    double found_ns = 0;  // for a code that is found while growing
  };

  // Adds to `found` all codes that its Hits will need.  Stops with false where
  // that turns out to take about as long as the scan; `found` then has some.
  bool Run(const std::byte* query, const Task& task, FoundCodes& found);

  // What the last Run cost, as far as the cost model knows.
  double spent_ns() const { return spent_ns_; }

 private:
  static constexpr int64_t kRowsAtOnce = 256;
  static constexpr size_t kKeysAtOnce = 32;

  void SetQuery(const std::byte* query);
  // Buckets of `table` whose key differs in a bits from the query's; false where
  // that takes too much.
  bool Step(int table, int a, FoundCodes& found);
  bool LookUp(int table, int a, std::span<const uint32_t> keys, FoundCodes& found);
  void ScanRows(int table, int step, int64_t row, int64_t count, FoundCodes& found);
  bool SeenBefore(int table, int step, const std::byte* row) const;
  double KeysAtStep(int step) const;
  bool Worthwhile(int step, const FoundCodes& found);
  bool TooMuch(int a) const;
  double KeyNs() const;

  const MihTables& tables_;
  const std::byte* query_ = nullptr;
  std::array<uint64_t, 16> words_ = {};
  std::array<uint32_t, kMostMihTables> keys_ = {};
  Task task_;
  double spent_ns_ = 0, keys_done_ = 0;
  double step_ns_ = 0, step_keys_ = 0;  // when the step began
  double keys_in_all_ = 0;              // at most, by what is known
};

}  // namespace crossilo

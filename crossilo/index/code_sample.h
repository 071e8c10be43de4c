#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/index/index.h"

namespace crossilo {

// Rows of a table as 64-bit words, one drawn from each of equally long
// stretches of it, so that none comes twice; all of them where there are no
// more than asked for.  The same for the same table.
class CodeSample {
 public:
  CodeSample(const Table& table, int64_t rows);

  int64_t size() const { return size_; }
  int words() const { return words_; }
  std::span<const uint64_t> Row(int64_t i) const {
    return std::span(data_).subspan(static_cast<size_t>(i * words_), static_cast<size_t>(words_));
  }
  // All rows, one after the other.
  std::span<const uint64_t> rows() const { return data_; }
  // Equal rows once, sorted.
  CodeSample Distinct() const;
  // Row numbers, those of equal rows next to each other.
  std::vector<int64_t> Sorted() const;
  bool Bit(int64_t i, int b) const { return Row(i)[b / 64] >> (b % 64) & 1; }

 private:
  CodeSample() = default;

  int64_t size_ = 0;
  int words_ = 0;
  std::vector<uint64_t> data_;
};

// What a sample of a table's codes says about all of them.
struct CodeStatistics {
  int64_t distinct = 0;  // about so many; may well be fewer
  int near = 0;          // half of the codes have ten others within about so many bits
};
CodeStatistics Look(const Table& table);

// Whether a and b differ in at most `most` of the bits that are set in mask.
bool Near(std::span<const uint64_t> a, std::span<const uint64_t> b, std::span<const uint64_t> mask,
          int most);

}  // namespace crossilo

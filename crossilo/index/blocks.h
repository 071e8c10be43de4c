#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crossilo/index/index.h"

namespace crossilo {

// Rows that lie together and are few enough to stay in the second-level cache
// while every query of a batch passes over them.
struct Block {
  const std::byte* rows = nullptr;
  size_t size = 0;
  const uint32_t* slots = nullptr;  // null: first, first + 1, ...
  uint32_t first = 0;
  const Bitmap* only = nullptr;  // what is still to be asked of a slot

  uint32_t Slot(uint32_t row) const { return slots != nullptr ? slots[row] : first + row; }
};

// The blocks of a range of slots by ascending slot, short ones first, so that a
// search has a limit before it meets long ones.  Where a filter lets nothing
// through, rows are skipped; where it lets little through, those rows are
// copied together, so that a selective filter makes a scan short.
class Blocks {
 public:
  // `begin` is a multiple of 64; so many queries will pass over each block.  The
  // table and the filter (may be null) must outlive it.
  Blocks(const Table& table, const Bitmap* only, int64_t begin, int64_t end, size_t queries);

  // The largest size of a block, a multiple of 64.
  int64_t most() const { return most_; }

  // False at the end.  The block is valid until the next call.
  bool Next(Block& block);

 private:
  int64_t CountAllowed(int64_t length) const;
  bool WorthGathering(int64_t allowed, int64_t length) const;
  void Gather(int64_t length);
  bool Flush(Block& block);

  const Table& table_;
  const Bitmap* only_;
  const int64_t row_bytes_, most_, end_, queries_;
  int64_t next_, length_;
  std::vector<std::byte> rows_;  // room for most_; gathered are as many as slots_
  std::vector<uint32_t> slots_;
  bool flushed_ = false;
};

}  // namespace crossilo

#include "crossilo/index/blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace crossilo {
namespace {

// A quarter of a common second-level cache; hits of one block, eight bytes
// each, must not push it out either.
constexpr int64_t kMostBytes = 64 << 10, kMostRows = 8192, kFirstRows = 256;

// A copy of a length the compiler knows is a move; memcpy is a call.
void CopyRow(std::byte* to, const std::byte* from, int64_t bytes) {
  if (bytes == 2) {
    std::memcpy(to, from, 2);
  } else if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else {
    for (int64_t b = 0; b < bytes; b += 8) std::memcpy(to + b, from + b, 8);
  }
}

}  // namespace

Blocks::Blocks(const Table& table, const Bitmap* only, int64_t begin, int64_t end, size_t queries)
    : table_(table),
      only_(only),
      row_bytes_(table.row_bytes()),
      most_(std::min({kMostRows, kMostBytes / row_bytes_ / 64 * 64, (end - begin + 63) / 64 * 64})),
      end_(end),
      queries_(static_cast<int64_t>(std::min<size_t>(queries, 32))),
      next_(begin),
      length_(kFirstRows) {}

int64_t Blocks::CountAllowed(int64_t length) const {
  int64_t count = 0;
  for (uint64_t word : only_->words().subspan(next_ / 64, (length + 63) / 64)) {
    count += std::popcount(word);
  }
  return count;
}

// To copy a row takes about as long as to scan 64 of them with one query.
bool Blocks::WorthGathering(int64_t allowed, int64_t length) const {
  return 64 * allowed < queries_ * length;
}

void Blocks::Gather(int64_t length) {
  rows_.resize(most_ * row_bytes_);
  for (int64_t start = next_; start < next_ + length; start += 64) {
    for (uint64_t word = only_->words()[start / 64]; word != 0; word &= word - 1) {
      const int64_t slot = start + std::countr_zero(word);
      CopyRow(rows_.data() + static_cast<int64_t>(slots_.size()) * row_bytes_,
              table_.rows + slot * row_bytes_, row_bytes_);
      slots_.push_back(static_cast<uint32_t>(slot));
    }
  }
}

bool Blocks::Flush(Block& block) {
  if (slots_.empty()) return false;
  block = {.rows = rows_.data(), .size = slots_.size(), .slots = slots_.data()};
  return flushed_ = true;
}

bool Blocks::Next(Block& block) {
  if (flushed_) {
    slots_.clear();
    flushed_ = false;
  }
  while (next_ < end_) {
    const int64_t length = std::min({length_, most_, end_ - next_});
    const int64_t allowed = only_ != nullptr ? CountAllowed(length) : length;
    const bool gather = allowed == 0 || WorthGathering(allowed, length);
    if (gather) {
      if (static_cast<int64_t>(slots_.size()) + allowed > most_) return Flush(block);
      if (allowed > 0) Gather(length);
    } else {
      if (Flush(block)) return true;
      block = {.rows = table_.rows + next_ * row_bytes_,
               .size = static_cast<size_t>(length),
               .first = static_cast<uint32_t>(next_),
               .only = allowed < length ? only_ : nullptr};
    }
    next_ += length;
    length_ = 2 * length;
    if (!gather) return true;
  }
  return Flush(block);
}

}  // namespace crossilo

#include "crossilo/index/mih_found.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace crossilo {

int RadiusInBits(const Policy& policy, int bits) {
  if (!(policy.radius >= 0)) return -1;
  return static_cast<int>(std::min(std::floor(policy.radius), static_cast<float>(bits)));
}

FoundCodes::FoundCodes(const MihTables& tables, const Policy& policy)
    : tables_(&tables),
      only_(policy.only),
      k_(std::min(policy.k, tables.size)),
      radius_(RadiusInBits(policy, static_cast<int>(tables.header.bits))),
      at_(tables.header.bits + 1) {
  Clear();
}

void FoundCodes::Clear() {
  limit_ = k_ > 0 ? radius_ + 1 : 0;
  within_ = 0;
  std::ranges::fill(at_, 0);
  codes_.clear();
}

// Where the slots of a code end that begin at ref < size; `most` later at most.
int64_t FoundCodes::End(uint32_t ref, int64_t most) const {
  const int64_t last = std::min(tables_->size, ref + std::min(most, tables_->size));
  int64_t at = int64_t{ref} + 1;
  while (at < last) {
    const uint64_t word = tables_->begins[at / 64] >> (at % 64);
    if (word != 0) return std::min(last, at + std::countr_zero(word));
    at = (at / 64 + 1) * 64;
  }
  return std::max<int64_t>(last, int64_t{ref} + 1);
}

// Appends the first `most` slots of a code that may be returned.
void FoundCodes::AppendSlots(uint32_t ref, int64_t most, std::vector<uint32_t>& slots) const {
  const auto size = static_cast<uint32_t>(tables_->size);
  const uint32_t* list = tables_->slots;
  // A filter decides how far to look for `most`.
  const int64_t end = End(ref, only_ == nullptr ? most : tables_->size);
  for (int64_t i = ref; i < end && most > 0; ++i) {
    // A damaged file may name any slot.
    if (list[i] >= size || (only_ != nullptr && !only_->Has(list[i]))) continue;
    slots.push_back(list[i]);
    --most;
  }
}

int64_t FoundCodes::CountSlots(uint32_t ref) const {
  if (only_ == nullptr) return End(ref, k_) - ref;
  int64_t count = 0;
  for (int64_t i = ref, end = End(ref, tables_->size); i < end && count < k_; ++i) {
    const uint32_t slot = tables_->slots[i];
    count += slot < tables_->size && only_->Has(slot);
  }
  return count;
}

void FoundCodes::Add(uint32_t ref, int distance) {
  // With k = size the limit stays the radius whatever is found.
  const int64_t count = k_ == tables_->size ? 0 : CountSlots(ref);
  if (count == 0 && k_ < tables_->size) return;
  codes_.push_back({ref, static_cast<uint32_t>(distance)});
  at_[distance] += count;
  within_ += count;
  while (within_ - at_[limit_ - 1] >= k_) within_ -= at_[--limit_];
}

void FoundCodes::Add(const FoundCodes& other) {
  for (const Code& code : other.codes_) {
    if (static_cast<int>(code.distance) < limit_) Add(code.ref, static_cast<int>(code.distance));
  }
}

std::vector<SlotHit> FoundCodes::Hits(Scratch& scratch) {
  // Ordered by distance, by counting.
  std::vector<size_t> begin(limit_ + 1);
  for (const Code& code : codes_) {
    if (static_cast<int>(code.distance) < limit_) ++begin[code.distance + 1];
  }
  for (int d = 0; d < limit_; ++d) begin[d + 1] += begin[d];
  scratch.refs.resize(begin[limit_]);
  std::vector<size_t> next = begin;
  for (const Code& code : codes_) {
    if (static_cast<int>(code.distance) < limit_) scratch.refs[next[code.distance]++] = code.ref;
  }
  // The slots of all distances first, so that hits are written once.
  std::vector<size_t> end(limit_);
  scratch.slots.clear();
  for (int d = 0; d < limit_; ++d) {
    if (std::ssize(scratch.slots) < k_) {
      Gather(std::span(scratch.refs).subspan(begin[d], begin[d + 1] - begin[d]), scratch);
    }
    end[d] = std::min(scratch.slots.size(), static_cast<size_t>(k_));
  }
  std::vector<SlotHit> hits;
  hits.reserve(limit_ > 0 ? end[limit_ - 1] : 0);
  for (int d = 0; d < limit_; ++d) {
    for (size_t i = hits.size(); i < end[d]; ++i) {
      hits.push_back({scratch.slots[i], static_cast<float>(d)});
    }
  }
  return hits;
}

// Appends the slots of some codes, merged, as many as are still wanted or more.
void FoundCodes::Gather(std::span<const uint32_t> refs, Scratch& scratch) const {
  constexpr size_t kAhead = 16;
  const size_t before = scratch.slots.size();
  const int64_t wanted = k_ - static_cast<int64_t>(before);
  for (size_t i = 0; i < refs.size(); ++i) {
    if (i + kAhead < refs.size()) {
      __builtin_prefetch(tables_->slots + refs[i + kAhead]);
      __builtin_prefetch(tables_->begins + refs[i + kAhead] / 64);
    }
    // The lists of damaged tables may overlap, and be more than memory holds.
    if (std::ssize(scratch.slots) >= 2 * tables_->size) break;
    AppendSlots(refs[i], wanted, scratch.slots);
  }
  if (refs.size() > 1) Sort(before, scratch);
}

// Sorts the slots from `first` on.  Few are sorted; many are marked in a bitmap,
// which is then read in order by the help of a second one that knows which words
// of it are not zero.
void FoundCodes::Sort(size_t first, Scratch& scratch) const {
  const auto slots = std::span(scratch.slots).subspan(first);
  if (std::ssize(slots) < tables_->size / 65536 + 64) {
    std::ranges::sort(slots);
    return;
  }
  scratch.marks.resize(static_cast<size_t>(tables_->size / 64 + 1));
  scratch.marked.resize(static_cast<size_t>(tables_->size / 4096 + 1));
  for (uint32_t slot : slots) {
    scratch.marks[slot / 64] |= uint64_t{1} << slot % 64;
    scratch.marked[slot / 4096] |= uint64_t{1} << slot / 64 % 64;
  }
  uint32_t* out = slots.data();
  for (size_t g = 0; g < scratch.marked.size(); ++g) {
    for (uint64_t words = std::exchange(scratch.marked[g], 0); words; words &= words - 1) {
      const size_t w = g * 64 + std::countr_zero(words);
      for (uint64_t word = std::exchange(scratch.marks[w], 0); word; word &= word - 1) {
        *out++ = static_cast<uint32_t>(w * 64 + std::countr_zero(word));
      }
    }
  }
  // Damaged tables may have named a slot twice.
  scratch.slots.resize(static_cast<size_t>(out - scratch.slots.data()));
}

}  // namespace crossilo

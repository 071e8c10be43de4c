#include "crossilo/index/mih_found.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace crossilo {
namespace {

// Appends some slots of one distance, as many as are still wanted.
void Append(std::span<const uint32_t> slots, int distance, int64_t k, std::vector<SlotHit>& hits) {
  constexpr size_t kAtOnce = 256;
  std::array<SlotHit, kAtOnce> some;
  slots = slots.first(static_cast<size_t>(std::min(std::ssize(slots), k - std::ssize(hits))));
  for (; !slots.empty(); slots = slots.subspan(std::min(kAtOnce, slots.size()))) {
    const size_t count = std::min(kAtOnce, slots.size());
    for (size_t i = 0; i < count; ++i) some[i] = {slots[i], static_cast<float>(distance)};
    hits.insert(hits.end(), some.begin(), some.begin() + count);
  }
}

}  // namespace

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
  // Every code's slots when it is found, and when it is asked for.  In damaged
  // tables each code may seem to have all slots, which nobody can wait for.
  left_ = 2 * tables_->size;
  within_ = 0;
  std::ranges::fill(at_, 0);
  codes_.clear();
}

// Where the slots of a code end that begin at ref < size; `most` later at most.
int64_t FoundCodes::End(uint32_t ref, int64_t most) {
  const int64_t last = std::min(tables_->size, ref + std::min(most, left_));
  int64_t at = int64_t{ref} + 1;
  while (at < last) {
    const uint64_t word = tables_->begins[at / 64] >> (at % 64);
    at = word != 0 ? at + std::countr_zero(word) : (at / 64 + 1) * 64;
    if (word != 0) break;
  }
  const int64_t end = std::max(std::min(at, last), int64_t{ref} + 1);
  left_ -= std::min(left_, end - ref);
  return end;
}

int64_t FoundCodes::CountSlots(uint32_t ref) {
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

// Lists of slots by distance, and where each distance's begin.
std::vector<size_t> FoundCodes::Order(Scratch& scratch) {
  constexpr size_t kAhead = 16;
  std::vector<size_t> begin(limit_ + 1);
  for (const Code& code : codes_) {
    if (static_cast<int>(code.distance) < limit_) ++begin[code.distance + 1];
  }
  for (int d = 0; d < limit_; ++d) begin[d + 1] += begin[d];
  scratch.lists.resize(begin[limit_]);
  std::vector<size_t> next = begin;
  // A filter decides how far to look for k.
  const int64_t most = only_ == nullptr ? k_ : tables_->size;
  for (size_t i = 0; i < codes_.size(); ++i) {
    if (i + kAhead < codes_.size()) {
      __builtin_prefetch(tables_->begins + codes_[i + kAhead].ref / 64);
    }
    const Code& code = codes_[i];
    if (static_cast<int>(code.distance) >= limit_) continue;
    scratch.lists[next[code.distance]++] = {code.ref, static_cast<uint32_t>(End(code.ref, most))};
  }
  return begin;
}

// The first `most` slots of a list that may be returned; where they cannot be
// read as they lie, they are in scratch.passing.
std::span<const uint32_t> FoundCodes::Slots(const SlotList& list, int64_t most,
                                            Scratch& scratch) const {
  const std::span all(tables_->slots + list.first, list.last - list.first);
  const auto size = static_cast<uint32_t>(tables_->size);
  if (only_ == nullptr) {
    const auto some = all.first(static_cast<size_t>(std::min(most, std::ssize(all))));
    uint32_t last = 0;
    for (uint32_t slot : some) last = std::max(last, slot);
    if (last < size) return some;
  }
  scratch.passing.clear();
  for (uint32_t slot : all) {
    if (std::ssize(scratch.passing) == most) break;
    // A damaged file may name any slot.
    if (slot < size && (only_ == nullptr || only_->Has(slot))) scratch.passing.push_back(slot);
  }
  return scratch.passing;
}

std::vector<SlotHit> FoundCodes::Hits(Scratch& scratch) {
  const std::vector<size_t> begin = Order(scratch);
  std::vector<SlotHit> hits;
  if (only_ == nullptr) {
    int64_t total = 0;
    for (const SlotList& list : scratch.lists) total += list.last - list.first;
    hits.reserve(static_cast<size_t>(std::min(k_, total)));
  }
  for (int d = 0; d < limit_ && std::ssize(hits) < k_; ++d) {
    const auto lists = std::span(scratch.lists).subspan(begin[d], begin[d + 1] - begin[d]);
    if (lists.size() == 1) {
      Append(Slots(lists[0], k_ - std::ssize(hits), scratch), d, k_, hits);
    } else {
      AppendMerged(lists, d, scratch, hits);
    }
  }
  return hits;
}

// The slots of several codes, in order.  Few are sorted, many are marked.
void FoundCodes::AppendMerged(std::span<const SlotList> lists, int distance, Scratch& scratch,
                              std::vector<SlotHit>& hits) const {
  constexpr size_t kAhead = 16;
  const int64_t wanted = k_ - std::ssize(hits), few = tables_->size / 65536 + 64;
  const auto each = [&](auto use) {
    for (size_t i = 0; i < lists.size(); ++i) {
      if (i + kAhead < lists.size()) __builtin_prefetch(tables_->slots + lists[i + kAhead].first);
      use(Slots(lists[i], wanted, scratch));
    }
  };
  int64_t total = 0;
  for (const SlotList& list : lists) total += std::min<int64_t>(wanted, list.last - list.first);
  if (total < few) {
    std::vector<uint32_t>& slots = scratch.slots;
    slots.clear();
    each([&](auto some) { slots.insert(slots.end(), some.begin(), some.end()); });
    std::ranges::sort(slots);
    Append(slots, distance, k_, hits);
  } else {
    scratch.marks.MakeRoom(tables_->size);
    each([&](auto some) { scratch.marks.Mark(some); });
    scratch.marks.Take([&](auto some) { Append(some, distance, k_, hits); });
  }
}

}  // namespace crossilo

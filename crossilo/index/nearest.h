#pragma once

#include <cstdint>
#include <vector>

#include "crossilo/index/index.h"

namespace crossilo {

// The k nearest of codes that are offered by ascending slot, equally near ones
// by slot.  A count of every distance takes the place of a heap: an offer costs
// O(1), memory is O(k), not O(n), and the k need never be compared with each
// other.  Not safe to use from many threads.
class Nearest {
 public:
  // Distances of `cap` and above are out; k at least 0.
  Nearest(int64_t k, int cap);

  // What is not below it can no longer be among the k, whatever follows.
  int limit() const { return limit_; }

  void Offer(uint32_t slot, int distance) {
    if (distance >= limit_) return;
    hits_.push_back({slot, static_cast<uint16_t>(distance)});
    ++counts_[distance];
    ++nearer_;
    while (nearer_ >= k_) nearer_ -= counts_[--limit_];
    if (static_cast<int64_t>(hits_.size()) >= most_) Cut();
  }

  // Offers everything another has; its slots are above all offered so far.
  void Offer(const Nearest& later) {
    for (const Kept& hit : later.hits_) Offer(hit.slot, hit.distance);
  }

  // The answer, in order.
  std::vector<SlotHit> Sorted();

 private:
  struct Kept {
    uint32_t slot;
    uint16_t distance;
  };

  // Drops what is not among the k.
  void Cut();

  int64_t k_, most_;
  int limit_;
  int64_t nearer_ = 0;            // hits below limit_, fewer than k
  std::vector<uint32_t> counts_;  // hits at each distance below limit_
  std::vector<Kept> hits_;        // by slot
};

}  // namespace crossilo

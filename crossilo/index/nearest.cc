#include "crossilo/index/nearest.h"

#include <algorithm>

namespace crossilo {

Nearest::Nearest(int64_t k, int cap)
    // No table has more rows, so a larger k asks for no more and cannot overflow.
    : k_(std::min<int64_t>(k, int64_t{1} << 32)),
      most_(2 * k_ + 256),
      limit_(k > 0 ? std::max(cap, 0) : 0),
      counts_(limit_) {}

void Nearest::Cut() {
  // At the limit the first slots win; the others there came too late.
  int64_t at_limit = k_ - nearer_;
  std::erase_if(hits_, [&](const Kept& hit) {
    return hit.distance > limit_ || (hit.distance == limit_ && at_limit-- <= 0);
  });
}

std::vector<SlotHit> Nearest::Sorted() {
  Cut();
  // By counting: hits stand by slot already, and stay so within a distance.
  std::vector<uint32_t> next(static_cast<size_t>(limit_) + 2);
  for (const Kept& hit : hits_) ++next[hit.distance + 1];
  for (size_t d = 1; d < next.size(); ++d) next[d] += next[d - 1];
  std::vector<SlotHit> sorted(hits_.size());
  for (const Kept& hit : hits_) {
    sorted[next[hit.distance]++] = {hit.slot, static_cast<float>(hit.distance)};
  }
  return sorted;
}

}  // namespace crossilo

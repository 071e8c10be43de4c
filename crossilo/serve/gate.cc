#include "crossilo/serve/gate.h"

namespace crossilo {

Gate::Pass::Pass(Gate& gate) : gate_(gate) {
  std::binary_semaphore turn(0);
  {
    const std::lock_guard lock(gate_.mutex_);
    if (gate_.free_ > 0) {
      --gate_.free_;
      return;
    }
    gate_.waiting_.push_back(&turn);
  }
  turn.acquire();
}

Gate::Pass::~Pass() {
  const std::lock_guard lock(gate_.mutex_);
  if (gate_.waiting_.empty()) {
    ++gate_.free_;
    return;
  }
  // Within the lock: its owner ends it as soon as it is released.
  gate_.waiting_.front()->release();
  gate_.waiting_.pop_front();
}

}  // namespace crossilo

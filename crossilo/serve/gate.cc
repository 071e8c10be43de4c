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
  // Whoever let it in has ended with `turn` then.
  const std::lock_guard lock(gate_.mutex_);
}

Gate::Pass::~Pass() {
  const std::lock_guard lock(gate_.mutex_);
  if (gate_.waiting_.empty()) {
    ++gate_.free_;
    return;
  }
  gate_.waiting_.front()->release();
  gate_.waiting_.pop_front();
}

}  // namespace crossilo

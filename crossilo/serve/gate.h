#pragma once

#include <deque>
#include <mutex>
#include <semaphore>

namespace crossilo {

// Lets so many in at the same time, the others in the order they came: where
// more threads want to run than there are cores, the system lets some of them
// wait several times as long as others.
class Gate {
 public:
  explicit Gate(int most) : free_(most) {}

  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  // Inside for as long as it lives; the constructor waits.
  class Pass {
   public:
    explicit Pass(Gate& gate);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Gate& gate_;
  };

 private:
  mutable std::mutex mutex_;
  int free_;
  std::deque<std::binary_semaphore*> waiting_;
};

}  // namespace crossilo

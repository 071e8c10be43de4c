#include "crossilo/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace crossilo {

int Workers(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ForEach(int64_t count, int workers, const std::function<void(int64_t, int)>& work) {
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  int64_t failed = count;
  const auto run = [&](int worker) {
    for (int64_t item = next++; item < count; item = next++) {
      try {
        work(item, worker);
      } catch (...) {
        next = count;
        const std::lock_guard lock(mutex);
        if (item < failed) {
          failed = item;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const int64_t others = std::min<int64_t>(workers, count) - 1;
    for (int worker = 1; worker <= others; ++worker) threads.emplace_back(run, worker);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

void ForEach(int64_t count, const std::function<void(int64_t)>& work) {
  ForEach(count, Workers(0), [&](int64_t item, int) { work(item); });
}

}  // namespace crossilo

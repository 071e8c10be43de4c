#include "crossilo/serve/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace crossilo {
namespace {

TEST(Gate, LetsThemInAsTheyCame) {
  Gate gate(1);
  auto first = std::make_unique<Gate::Pass>(gate);
  std::vector<int> order;  // guarded by the gate
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const Gate::Pass pass(gate);
      order.push_back(i);
    });
    while (gate.waiting() < static_cast<size_t>(i) + 1) std::this_thread::yield();
  }
  EXPECT_TRUE(order.empty());
  first.reset();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Gate, NoMoreThanItsNumberAreInside) {
  Gate gate(3);
  std::atomic<int> inside = 0, most = 0, passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int times = 0; times < 200; ++times) {
        const Gate::Pass pass(gate);
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        ++passed;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 3);
  EXPECT_EQ(passed, 16 * 200);
  EXPECT_EQ(gate.waiting(), 0u);
  // All three places are free again.
  const Gate::Pass a(gate), b(gate), c(gate);
}

}  // namespace
}  // namespace crossilo

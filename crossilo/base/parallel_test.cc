#include "crossilo/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

TEST(Parallel, EveryItemOnceByAWorkerInRange) {
  for (int workers : {1, 2, 7}) {
    for (int64_t count : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      std::atomic<bool> in_range = true;
      ForEach(count, workers, [&](int64_t item, int worker) {
        ++calls[item];
        if (worker < 0 || worker >= workers) in_range = false;
      });
      for (const auto& n : calls) EXPECT_EQ(n, 1);
      EXPECT_TRUE(in_range);
    }
  }
}

TEST(Parallel, TheFailureOfTheLowestItemComesOut) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (int workers : {1, 3, 8}) {
      try {
        ForEach(1000, workers, [](int64_t item, int) {
          if (item % 100 == 37) throw Error("{}", item);
        });
        FAIL();
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "37");
      }
    }
  }
}

TEST(Parallel, ZeroIsOneACore) {
  EXPECT_GE(Workers(0), 1);
  EXPECT_EQ(Workers(5), 5);
}

}  // namespace
}  // namespace crossilo

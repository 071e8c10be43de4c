#include "crossilo/index/slot_marks.h"

#include <gtest/gtest.h>

#include <set>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

std::vector<uint32_t> Taken(SlotMarks& marks) {
  std::vector<uint32_t> taken;
  marks.Take([&](auto some) { taken.insert(taken.end(), some.begin(), some.end()); });
  return taken;
}

TEST(SlotMarks, ComeBackInOrderOnceEach) {
  SlotMarks marks;
  marks.MakeRoom(5000);
  // The ends of words and of groups of 64 words, one of them twice.
  const std::vector<uint32_t> slots = {4999, 4096, 4095, 64, 63, 0, 63};
  marks.Mark(slots);
  EXPECT_EQ(Taken(marks), (std::vector<uint32_t>{0, 63, 64, 4095, 4096, 4999}));
  EXPECT_TRUE(Taken(marks).empty());  // and are forgotten
}

// From one in a thousand to all: stretches of any length, full words among them.
TEST(SlotMarks, AreASet) {
  Random random(1, {}, "slot marks");
  SlotMarks marks;
  for (const int64_t size : {1, 64, 4096, 4097, 20000}) {
    marks.MakeRoom(size);
    for (const double share : {0.001, 0.05, 0.5, 1.0}) {
      std::set<uint32_t> right;
      std::vector<uint32_t> slots;
      for (int64_t i = size - 1; i >= 0; --i) {
        if (random.Uniform() < share) slots.push_back(static_cast<uint32_t>(i));
      }
      right.insert(slots.begin(), slots.end());
      marks.Mark(slots);
      EXPECT_EQ(Taken(marks), std::vector<uint32_t>(right.begin(), right.end()));
    }
  }
}

}  // namespace
}  // namespace crossilo

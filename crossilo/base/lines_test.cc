#include "crossilo/base/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitLines, KeepsEmptyOnesAndNeedsNoLastEnd) {
  EXPECT_THAT(SplitLines(""), IsEmpty());
  EXPECT_THAT(SplitLines("\n"), ElementsAre(""));
  EXPECT_THAT(SplitLines("a"), ElementsAre("a"));
  EXPECT_THAT(SplitLines("a\n\nb c\n"), ElementsAre("a", "", "b c"));
  EXPECT_THAT(SplitLines("a\nb"), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace crossilo

#include "crossilo/base/nearest.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

TEST(Nearest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("beta", "beta"), 0);
  EXPECT_EQ(EditDistance("bta", "beta"), 1);
  EXPECT_EQ(EditDistance("betaa", "beta"), 1);
  EXPECT_EQ(EditDistance("bete", "beta"), 1);
  EXPECT_EQ(EditDistance("btea", "beta"), 1);  // one swap, not two replacements
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(Nearest, NamesTheLikelyOneAndNothingForNonsense) {
  const std::vector<std::string> known = {"rounds", "local_epochs", "batch"};
  EXPECT_EQ(Nearest("ronuds", known), "rounds");
  EXPECT_EQ(Nearest("local_epoch", known), "local_epochs");
  EXPECT_EQ(Nearest("zzzzz", known), "");
  EXPECT_EQ(Suggestion("bach", known), "; did you mean 'batch'?");
  EXPECT_EQ(Suggestion("zzzzz", known), "; known are rounds, local_epochs, batch");
}

}  // namespace
}  // namespace crossilo

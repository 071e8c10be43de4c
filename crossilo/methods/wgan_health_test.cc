#include "crossilo/methods/wgan_health.h"

#include <gtest/gtest.h>

#include <cmath>

namespace crossilo {
namespace {

// Real rows (+-2, 0): length 2, on average 4/3 * 2 = 8/3 apart (of six pairs
// four are 4 apart).
TEST(WganHealth, WorkedByHand) {
  const torch::Tensor real = torch::tensor({{2.f, 0.f}, {-2.f, 0.f}, {2.f, 0.f}, {-2.f, 0.f}});
  const auto health = [&](const torch::Tensor& x) { return HealthOf(x, real, 0.1); };
  EXPECT_EQ(health(0.15 * real), GeneratorHealth::kFine);       // length .3 > .2, apart .4 > .267
  EXPECT_EQ(health(0.09 * real), GeneratorHealth::kCollapsed);  // too short
  EXPECT_EQ(health(9 * real), GeneratorHealth::kFine);
  EXPECT_EQ(health(11 * real), GeneratorHealth::kDiverged);
  EXPECT_EQ(health(torch::ones({4, 2})), GeneratorHealth::kCollapsed);
  EXPECT_EQ(health(real * NAN), GeneratorHealth::kDiverged);
  EXPECT_EQ(health(real.slice(0, 0, 1)), GeneratorHealth::kTooFew);
  // Real samples all alike: nothing to collapse to.
  EXPECT_EQ(HealthOf(torch::ones({4, 2}), torch::ones({3, 2}), 0.1), GeneratorHealth::kFine);
}

// Rows (+-1, 0), times a factor and moved along (0, 1): longer or wider by more
// than a tenth starts the count again.
TEST(WganHealth, CountsCollapsesThatComeToNothing) {
  const torch::Tensor rows = torch::tensor({{1.f, 0.f}, {-1.f, 0.f}});
  const torch::Tensor up = torch::tensor({{0.f, 1.f}});
  const auto collapsed = GeneratorHealth::kCollapsed;
  CollapseCount count;
  EXPECT_EQ(count.After(GeneratorHealth::kFine, rows), 0);
  EXPECT_EQ(count.After(collapsed, rows), 1);
  EXPECT_EQ(count.After(collapsed, 1.05 * rows), 2);
  EXPECT_EQ(count.After(collapsed, 1.08 * rows), 3);  // compared with the first
  EXPECT_EQ(count.After(collapsed, 1.2 * rows), 1);
  EXPECT_EQ(count.After(collapsed, 1.2 * rows), 2);
  EXPECT_EQ(count.After(collapsed, rows + up), 1);  // as wide, sqrt 2 long
  CollapseCount resumed;
  resumed.SetState(count.State());
  EXPECT_EQ(resumed.After(collapsed, rows + up), 2);
  // As long and wider: (+-1.2, .7), sqrt(1.93) = 1.39 < 1.41
  EXPECT_EQ(count.After(collapsed, 1.2 * rows + 0.7 * up), 1);
  EXPECT_EQ(count.After(GeneratorHealth::kDiverged, rows), 0);
  CollapseCount zeros;
  for (int i = 1; i < 4; ++i) EXPECT_EQ(zeros.After(collapsed, 0 * rows), i);
}

// On a line 0, 1, 2, 10: nearest others 1, 1, 1, 8, median 1.  Copies are 0
// away; 0.5, 3, 12 are .5, 1, 2 away.
TEST(WganHealth, MemorisationOfHandPlacedPoints) {
  const torch::Tensor real = torch::tensor({{0.f}, {1.f}, {2.f}, {10.f}});
  Random random(1);
  const Memorisation copied = MeasureMemorisation(real.slice(0, 1, 4), real, 100, random);
  EXPECT_EQ(copied.generated, 0);
  EXPECT_NEAR(copied.real, 1, 1e-6);
  const Memorisation fresh =
      MeasureMemorisation(torch::tensor({{0.5f}, {3.f}, {12.f}}), real, 100, random);
  EXPECT_NEAR(fresh.generated, 1, 1e-6);
}

// Blocks do not change who is nearest: the nearest of 9000 is the last.
TEST(WganHealth, MemorisationLooksAtEveryBlock) {
  torch::Tensor real = torch::full({9000, 2}, 50.f);
  real.select(1, 0).add_(torch::arange(9000));
  real[8999] = torch::tensor({1.f, 0.f});
  Random random(1);
  EXPECT_NEAR(MeasureMemorisation(torch::zeros({3, 2}), real, 5, random).generated, 1, 1e-6);
}

}  // namespace
}  // namespace crossilo

#include "crossilo/methods/relational.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

// One sample, two anchors along the axes.  x1 = (1, 0): cosines (1, 0); x2 =
// (0, 1): cosines (0, 1).  With t = t2 = 1 the softmaxes are (.7311, .2689) and
// (.2689, .7311), the target is (.5, .5), and each
// KL = .5 ln(.5/.7311) + .5 ln(.5/.2689) = .5 (-.3799) + .5 (.6201) = .1201.
TEST(Relational, OppositeViewsByHand) {
  const torch::Tensor x1 = torch::tensor({{2.f, 0.f}}), x2 = torch::tensor({{0.f, 3.f}});
  const torch::Tensor anchors = torch::eye(2) * 5;  // lengths do not count
  EXPECT_NEAR(RelationalLoss(x1, x2, anchors, 1, 1).item<double>(), 0.1201, 1e-4);
}

// Same views, t = t2: target = q, so both KLs vanish.  With another t2 the loss
// is KL(softmax(s / t2) || softmax(s / t)) > 0: for s = (1, 0), t = 1, t2 = .5:
// target (.8808, .1192); .8808 ln(.8808/.7311) + .1192 ln(.1192/.2689) = .0671.
TEST(Relational, EqualViewsAreZeroAtOneTemperature) {
  const torch::Tensor x = torch::tensor({{1.f, 0.f}});
  EXPECT_NEAR(RelationalLoss(x, x, torch::eye(2), 1, 1).item<double>(), 0, 1e-6);
  EXPECT_NEAR(RelationalLoss(x, x, torch::eye(2), 1, 0.5).item<double>(), 0.0671, 1e-4);
}

TEST(Relational, NothingToCompareIsZeroAndHasAGradient) {
  torch::Tensor x = torch::ones({2, 3}, torch::requires_grad());
  const torch::Tensor loss = RelationalLoss(x, x, torch::empty({0, 3}), 0.1, 0.1);
  EXPECT_EQ(loss.item<double>(), 0);
  loss.backward();
  EXPECT_TRUE(x.grad().eq(0).all().item<bool>());
}

TEST(Relational, RowsAndAnchorsOfZerosStayFinite) {
  torch::Tensor x = torch::zeros({2, 3}, torch::requires_grad());
  const torch::Tensor loss = RelationalLoss(x, x, torch::zeros({4, 3}), 0.1, 0.1);
  EXPECT_NEAR(loss.item<double>(), 0, 1e-6);
  loss.backward();
  EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace crossilo

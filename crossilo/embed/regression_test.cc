#include "crossilo/embed/regression.h"

#include <gtest/gtest.h>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

TEST(RidgeRegression, OneSampleByHand) {
  // x = (3, 4), y = (2): X X' + 5 = 25 + 5 = 30, so the map is (3, 4) 2 / 30.
  const RidgeRegression map({{{0, 3}, {1, 4}}}, 3, {{{0, 2}}}, 1, 5);
  EXPECT_NEAR(map.Row(0).at(0), 0.2, 1e-12);
  EXPECT_NEAR(map.Row(1).at(0), 8.0 / 30, 1e-12);
  EXPECT_EQ(map.Row(2).at(0), 0);  // a column nobody has
}

TEST(RidgeRegression, IsTheSolutionOfTheNormalEquations) {
  // W = X' (X X' + r I)^-1 Y also solves (X' X + r I) W = X' Y.
  Random random(3);
  const int64_t n = 7, p = 11, q = 4;
  torch::Tensor x = torch::zeros({n, p}, torch::kDouble), y = torch::zeros({n, q}, torch::kDouble);
  std::vector<SparseRow> rows(n), targets(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < p; k += 1 + static_cast<int64_t>(random.Below(3))) {
      x[i][k] = rows[i][k] = random.Normal();
    }
    for (int64_t k = 0; k < q; ++k) y[i][k] = targets[i][k] = random.Normal();
  }
  const RidgeRegression map(rows, p, targets, q, 0.3);
  torch::Tensor w = torch::zeros({p, q}, torch::kDouble);
  for (int64_t k = 0; k < p; ++k) w[k] = torch::tensor(map.Row(k), torch::kDouble);
  const torch::Tensor left = (x.t().mm(x) + 0.3 * torch::eye(p, torch::kDouble)).mm(w);
  EXPECT_TRUE(torch::allclose(left, x.t().mm(y), 1e-9, 1e-9));
}

}  // namespace
}  // namespace crossilo

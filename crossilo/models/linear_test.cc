#include "crossilo/models/linear.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

struct Result {
  torch::Tensor y, dx, dw, db;
};

template <typename F>
Result Gradients(F linear) {
  at::manual_seed(3);
  torch::Tensor x = torch::randn({5, 7}).set_requires_grad(true);
  torch::Tensor w = torch::randn({4, 7}).set_requires_grad(true);
  torch::Tensor b = torch::randn({4}).set_requires_grad(true);
  const torch::Tensor y = linear(x, w, b);
  y.square().sum().backward();
  return {y, x.grad(), w.grad(), b.grad()};
}

TEST(Linear, EqualsTorchInValueAndGradient) {
  const auto theirs = [](auto& x, auto& w, auto& b) { return torch::linear(x, w, b); };
  const auto ours = [](auto& x, auto& w, auto& b) { return Linear(x, w, b); };
  const Result a = Gradients(theirs), b = Gradients(ours);
  EXPECT_TRUE(torch::allclose(a.y, b.y));
  EXPECT_TRUE(torch::allclose(a.dx, b.dx));
  EXPECT_TRUE(torch::allclose(a.dw, b.dw));
  EXPECT_TRUE(torch::allclose(a.db, b.db));
}

// d/dw of sum(x1 w^T) + sum(x2 w^T) is the column sums of both inputs: reused
// memory must not let the second overwrite the first.
TEST(Linear, AWeightUsedTwiceSumsItsGradients) {
  torch::Tensor w = torch::zeros({1, 2}).set_requires_grad(true);
  const torch::Tensor b = torch::zeros({1});
  const torch::Tensor x1 = torch::tensor({{1.0f, 2.0f}}), x2 = torch::tensor({{10.0f, 20.0f}});
  (Linear(x1, w, b).sum() + Linear(x2, w, b).sum()).backward();
  EXPECT_TRUE(torch::equal(w.grad(), torch::tensor({{11.0f, 22.0f}})));
}

TEST(Linear, AGradientStillHeldIsNotOverwritten) {
  torch::Tensor w = torch::zeros({1, 2}).set_requires_grad(true);
  const torch::Tensor b = torch::zeros({1});
  Linear(torch::tensor({{1.0f, 2.0f}}), w, b).sum().backward();
  const torch::Tensor kept = w.grad();
  w.mutable_grad().reset();
  Linear(torch::tensor({{5.0f, 6.0f}}), w, b).sum().backward();
  EXPECT_TRUE(torch::equal(kept, torch::tensor({{1.0f, 2.0f}})));
  EXPECT_TRUE(torch::equal(w.grad(), torch::tensor({{5.0f, 6.0f}})));
}

}  // namespace
}  // namespace crossilo

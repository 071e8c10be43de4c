#include "crossilo/train/optimizer.h"

#include <gtest/gtest.h>
#include <torch/optim.h>

namespace crossilo {
namespace {

// Minimises the same quadratic with torch's optimiser and ours.
template <typename Theirs>
void ExpectSamePath(Theirs&& make_theirs, const OptimizerOptions& options) {
  at::manual_seed(1);
  const torch::Tensor target = torch::randn({40, 30});
  torch::Tensor a = torch::zeros({40, 30}).set_requires_grad(true);
  TensorMap ours = {{"w", torch::zeros({40, 30}).set_requires_grad(true)}};
  auto theirs = make_theirs(a);
  Optimizer optimizer(options);
  for (int i = 0; i < 20; ++i) {
    theirs.zero_grad();
    (a - target).square().sum().backward();
    theirs.step();
    (ours.at("w") - target).square().sum().backward();
    optimizer.Step(ours, {"w"});
    EXPECT_FALSE(ours.at("w").grad().defined());
  }
  EXPECT_TRUE(torch::allclose(a, ours.at("w"), 1e-5, 1e-6));
  EXPECT_GT(a.abs().sum().item<double>(), 1);  // it moved
}

TEST(Optimizer, SgdIsTorchs) {
  ExpectSamePath(
      [](torch::Tensor& a) {
        return torch::optim::SGD({a},
                                 torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.1));
      },
      {.kind = "sgd", .learning_rate = 0.01, .momentum = 0.9, .weight_decay = 0.1});
  ExpectSamePath([](torch::Tensor& a) { return torch::optim::SGD({a}, 0.01); },
                 {.kind = "sgd", .learning_rate = 0.01});
}

TEST(Optimizer, AdamIsTorchs) {
  ExpectSamePath(
      [](torch::Tensor& a) {
        return torch::optim::Adam(
            {a}, torch::optim::AdamOptions(0.01).betas({0.5, 0.999}).weight_decay(0.1));
      },
      {.kind = "adam", .learning_rate = 0.01, .weight_decay = 0.1, .beta1 = 0.5});
}

TEST(Optimizer, RmsPropIsTorchs) {
  ExpectSamePath(
      [](torch::Tensor& a) {
        return torch::optim::RMSprop({a}, torch::optim::RMSpropOptions(0.01).weight_decay(0.1));
      },
      {.kind = "rmsprop", .learning_rate = 0.01, .weight_decay = 0.1});
}

TEST(Optimizer, ClipScalesTheWholeStep) {
  // Gradients (3, 0) and (0, 4) have the joint norm 5; clipped to 1 they are
  // (0.6, 0) and (0, 0.8).
  TensorMap p = {{"a", torch::zeros({2}).set_requires_grad(true)},
                 {"b", torch::zeros({2}).set_requires_grad(true)}};
  p.at("a").mutable_grad() = torch::tensor({3.0f, 0.0f});
  p.at("b").mutable_grad() = torch::tensor({0.0f, 4.0f});
  Optimizer({.kind = "sgd", .learning_rate = 1, .clip = 1}).Step(p, {"a", "b"});
  EXPECT_NEAR(p.at("a")[0].item<double>(), -0.6, 1e-5);
  EXPECT_NEAR(p.at("b")[1].item<double>(), -0.8, 1e-5);
}

TEST(Optimizer, LeavesUnnamedParametersAndDropsTheirGradients) {
  TensorMap p = {{"a", torch::zeros({2}).set_requires_grad(true)},
                 {"b", torch::zeros({2}).set_requires_grad(true)}};
  p.at("a").mutable_grad() = torch::ones({2});
  p.at("b").mutable_grad() = torch::ones({2});
  Optimizer({.kind = "sgd", .learning_rate = 1}).Step(p, {"a"});
  EXPECT_EQ(p.at("b").sum().item<float>(), 0);
  EXPECT_FALSE(p.at("b").grad().defined());
}

TEST(Optimizer, StateContinuesToTheBit) {
  const OptimizerOptions options{.kind = "adam", .learning_rate = 0.1};
  const auto step = [](Optimizer& optimizer, TensorMap& p) {
    (p.at("w") - 3).square().sum().backward();
    optimizer.Step(p, {"w"});
  };
  TensorMap p = {{"w", torch::zeros({5}).set_requires_grad(true)}};
  Optimizer first(options);
  for (int i = 0; i < 3; ++i) step(first, p);
  TensorMap q = {{"w", p.at("w").detach().clone().set_requires_grad(true)}};
  Optimizer second(options);
  second.SetState(first.State());
  step(first, p);
  step(second, q);
  EXPECT_TRUE(torch::equal(p.at("w"), q.at("w")));
}

}  // namespace
}  // namespace crossilo

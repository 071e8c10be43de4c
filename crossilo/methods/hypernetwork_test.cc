#include "crossilo/methods/hypernetwork.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

constexpr HypernetworkOptions kSmall{.embedding = 5, .hidden = 6, .rate = 1};

torch::Tensor Doubles(const std::vector<double>& x) { return torch::tensor(x, torch::kDouble); }

TEST(Hypernetwork, SharesAndGradientWorkedByHand) {
  const torch::Tensor alpha = Doubles({1, 3});
  EXPECT_EQ(MixingShares(alpha, 0), (std::vector{0.25, 0.75}));
  // A = 4, Dbar = 2/4 + 18/4 = 5
  EXPECT_TRUE(torch::allclose(AlphaGradient(alpha, {2, 6}), Doubles({-0.75, 0.25})));
  EXPECT_EQ(MixingShares(Doubles({0, 2, 0}), 0), (std::vector{0., 1., 0.}));
}

TEST(Hypernetwork, WithoutASumASiloKeepsItsOwn) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const torch::Tensor& alpha : {Doubles({0, 0, 0}), Doubles({infinity, 1, 0})}) {
    EXPECT_EQ(MixingShares(alpha, 2), (std::vector{0., 0., 1.}));
    EXPECT_TRUE(torch::equal(AlphaGradient(alpha, {1, 2, 3}), torch::zeros_like(alpha)));
  }
}

TEST(Hypernetwork, IdenticalSilosGiveNoGradient) {
  EXPECT_TRUE(torch::allclose(AlphaGradient(Doubles({1, 2, 4}), {7, 7, 7}),
                              torch::zeros({3}).to(torch::kDouble)));
}

TEST(Hypernetwork, BeginsNearUniformAndByItsSeed) {
  const HypernetworkOptions options;  // the paper's sizes
  const Hypernetwork a({"x", "y"}, 4, options, Random(1)), b({"x", "y"}, 4, options, Random(1)),
      c({"x", "y"}, 4, options, Random(2));
  const TensorMap alpha = a.Alpha();
  for (const char* layer : {"x", "y"}) {
    EXPECT_TRUE(torch::equal(alpha.at(layer), b.Alpha().at(layer)));
    EXPECT_FALSE(torch::equal(alpha.at(layer), c.Alpha().at(layer)));
    for (double share : MixingShares(alpha.at(layer), 0)) EXPECT_NEAR(share, 0.25, 0.12);
  }
  EXPECT_FALSE(torch::equal(alpha.at("x"), alpha.at("y")));
}

// G = sum over layers of sum_j share_j D_j.
const std::map<std::string, std::vector<double>> kD = {{"x", {2, -1, 0.5}}, {"y", {0, 3, 1}}};

double G(const Hypernetwork& network) {
  double sum = 0;
  for (const auto& [layer, alpha] : network.Alpha()) {
    const std::vector<double> shares = MixingShares(alpha, 0);
    for (size_t j = 0; j < shares.size(); ++j) sum += shares[j] * kD.at(layer)[j];
  }
  return sum;
}

TensorMap Gradients(const Hypernetwork& network) {
  TensorMap out;
  for (const auto& [layer, alpha] : network.Alpha())
    out[layer] = AlphaGradient(alpha, kD.at(layer));
  return out;
}

// What a step adds to every parameter.
TensorMap StepOf(const HypernetworkOptions& options) {
  Hypernetwork network({"x", "y"}, 3, options, Random(4));
  const TensorMap before = network.State();
  network.Learn(Gradients(network));
  return network.State() - before;
}

TEST(Hypernetwork, AStepIsTheGradientByFiniteDifferences) {
  Hypernetwork network({"x", "y"}, 3, kSmall, Random(4));
  const TensorMap state = network.State(), step = StepOf(kSmall);
  int moved = 0;
  for (const auto& [name, w] : state) {
    for (int64_t k = 0; k < w.numel(); ++k) {
      double side[2];
      for (int s : {0, 1}) {
        TensorMap nudged = Copy(state);
        nudged.at(name).view(-1)[k] += s == 1 ? 1e-6 : -1e-6;
        network.SetState(nudged);
        side[s] = G(network);
      }
      const double expected = (side[1] - side[0]) / 2e-6;
      EXPECT_NEAR(step.at(name).view(-1)[k].item<double>(), expected, 1e-6) << name << " " << k;
      moved += std::abs(expected) > 1e-4;
    }
  }
  EXPECT_GT(moved, 20);  // the comparison is not of zeros
}

TEST(Hypernetwork, SignRateAndWhatLearns) {
  HypernetworkOptions literal = kSmall, frozen = kSmall, embedding = kSmall;
  literal.descent = false;
  frozen.rate = 0;
  embedding.embedding_only = true;
  const TensorMap up = StepOf(kSmall), down = StepOf(literal), still = StepOf(frozen),
                  input = StepOf(embedding);
  for (const auto& [name, step] : up) {
    EXPECT_TRUE(torch::allclose(step, -down.at(name))) << name;
    EXPECT_EQ(still.at(name).abs().sum().item<double>(), 0) << name;
    const bool same = torch::equal(input.at(name), step);
    const bool zero = input.at(name).abs().sum().item<double>() == 0;
    EXPECT_TRUE(name == "embedding" ? same && !zero : zero) << name;
  }
}

// Three silos at the corners of a simplex; ours has its optimum at corner 1 and
// one gradient step d = t - thetabar of 1/2 |thetabar - t|^2.
double ShareOfTheClosest(bool descent) {
  HypernetworkOptions options = kSmall;
  options.descent = descent;
  options.rate = 0.05;
  Hypernetwork network({"x"}, 3, options, Random(4));
  const torch::Tensor theta = torch::eye(3, torch::kDouble), t = theta[1];
  double share = 0;
  for (int round = 0; round < 60; ++round) {
    const torch::Tensor alpha = network.Alpha().at("x");
    const std::vector<double> shares = MixingShares(alpha, 0);
    const torch::Tensor d = t - Doubles(shares).unsqueeze(0).mm(theta).squeeze(0);
    std::vector<double> D;
    for (int j = 0; j < 3; ++j) D.push_back(theta[j].dot(d).item<double>());
    network.Learn({{"x", AlphaGradient(alpha, D)}});
    share = shares[1];
  }
  return share;
}

TEST(Hypernetwork, DescentMovesSharesToTheClosestSilo) {
  const Hypernetwork start({"x"}, 3, kSmall, Random(4));
  const double before = MixingShares(start.Alpha().at("x"), 0)[1];
  EXPECT_GT(ShareOfTheClosest(true), before + 0.1);
  EXPECT_LT(ShareOfTheClosest(false), before - 0.1);
}

TEST(Hypernetwork, GoesOnFromItsStateInTheSameBits) {
  Hypernetwork a({"x", "y"}, 3, kSmall, Random(4)), b({"x", "y"}, 3, kSmall, Random(5));
  a.Learn(Gradients(a));
  b.SetState(a.State());
  a.Learn(Gradients(a)), b.Learn(Gradients(b));
  for (const auto& [name, w] : a.State()) EXPECT_TRUE(torch::equal(w, b.State().at(name)));
}

}  // namespace
}  // namespace crossilo

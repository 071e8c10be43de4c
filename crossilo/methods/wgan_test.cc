#include "crossilo/methods/wgan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/methods/wgan_health.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

const WganOptions kSmall{.noise = 3, .width = 2, .critic_steps = 2, .batch = 4};

double Largest(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

// All weights 0: a generated row is the last bias.
TensorMap Constant(TensorMap network, const std::vector<float>& row) {
  for (auto& [name, w] : network) w = torch::zeros_like(w);
  network["3.bias"] = torch::tensor(row);
  return network;
}

TEST(Wgan, NetworksHaveTheirWidths) {
  Random random(1);
  const PairShape shape{.image_dims = 3, .text_dims = 2};
  const TensorMap g = NewGenerator(shape, {}, random), d = NewCritic(shape, {}, random);
  const auto size = [](int64_t a, int64_t b) { return std::vector<int64_t>{a, b}; };
  EXPECT_EQ(g.at("0.weight").sizes(), size(256, 100));
  EXPECT_EQ(g.at("2.weight").sizes(), size(1024, 512));
  EXPECT_EQ(g.at("3.weight").sizes(), size(5, 1024));
  EXPECT_EQ(d.at("0.weight").sizes(), size(1024, 5));
  EXPECT_EQ(d.at("3.weight").sizes(), size(1, 256));
  EXPECT_EQ(g.size(), 8u);
  EXPECT_EQ(d.size(), 8u);
}

// The halves (3, 4) and (0, 2): as they are; (.6, .8) and (0, 1); tanh of each.
TEST(Wgan, OutputsWorkedByHand) {
  Random random(1);
  PairShape shape{.image_dims = 2, .text_dims = 2};
  const TensorMap g = Constant(NewGenerator(shape, kSmall, random), {3, 4, 0, 2});
  const auto row = [&](GeneratorOutput output) {
    shape.output = output;
    return Generate(g, shape, torch::ones({1, 3}));
  };
  const auto near = [](const torch::Tensor& a, std::vector<float> b) {
    return torch::allclose(a, torch::tensor(b).unsqueeze(0), 1e-6, 1e-6);
  };
  EXPECT_TRUE(near(row(GeneratorOutput::kLinear), {3, 4, 0, 2}));
  EXPECT_TRUE(near(row(GeneratorOutput::kUnit), {.6f, .8f, 0, 1}));
  EXPECT_TRUE(
      near(row(GeneratorOutput::kTanh), {std::tanh(3.f), std::tanh(4.f), 0, std::tanh(2.f)}));
}

// One unit a layer, weights 1: x -> lrelu -> lrelu -> lrelu -> x.  For x = -1
// the three LeakyReLUs make -.2^3.
TEST(Wgan, ScoresWorkedByHand) {
  TensorMap critic;
  for (int layer = 0; layer < 4; ++layer) {
    critic[std::to_string(layer) + ".weight"] = torch::ones({1, 1});
    critic[std::to_string(layer) + ".bias"] = torch::zeros({1});
  }
  const torch::Tensor scores = Score(critic, torch::tensor({{5.f}, {-1.f}}));
  EXPECT_NEAR(scores[0].item<double>(), 5, 1e-6);
  EXPECT_NEAR(scores[1].item<double>(), -0.008, 1e-6);
}

// Of many outputs about 30% are dropped and the others grow by 1/.7 in each of
// the three hidden layers: the mean stays.
TEST(Wgan, DropoutKeepsTheMeanAndOnlyActsInTraining) {
  TensorMap critic;
  for (int layer = 0; layer < 4; ++layer) {
    critic[std::to_string(layer) + ".weight"] = torch::ones({1, 1});
    critic[std::to_string(layer) + ".bias"] = torch::zeros({1});
  }
  const torch::Tensor rows = torch::ones({40000, 1});
  Random random(2);
  const torch::Tensor dropped = Score(critic, rows, 0.3, &random);
  EXPECT_NEAR(dropped.mean().item<double>(), 1, 0.03);
  EXPECT_NEAR(dropped.eq(0).to(torch::kFloat).mean().item<double>(), 1 - .7 * .7 * .7, 0.01);
  EXPECT_EQ(Score(critic, rows, 0.3).ne(1).sum().item<int64_t>(), 0);
}

// The critic's step raises real scores over generated ones and leaves the
// generator; its weights end within the clip.
TEST(Wgan, ACriticsStepSeparatesAndClips) {
  WganOptions options = kSmall;
  options.dropout = 0;
  options.rate = 0.01;
  options.clip = 0.3;
  const PairShape shape{.image_dims = 2, .text_dims = 2};
  Wgan gan(shape, options, torch::kCPU);
  gan.Start(Random(3));
  Random random(4);
  const torch::Tensor real = 3 + torch::zeros({8, 4});
  const TensorMap generator = Copy(gan.generator());
  EXPECT_GT(Largest(gan.critic()), 0.3);
  const auto gap = [&] {
    Random same(5);
    return (Score(gan.critic(), real).mean() - Score(gan.critic(), gan.Sample(64, same)).mean())
        .item<double>();
  };
  gan.CriticStep(real, random);
  const double before = gap();
  EXPECT_LE(Largest(gan.critic()), 0.3f + 1e-7);
  for (int i = 0; i < 30; ++i) gan.CriticStep(real, random);
  EXPECT_GT(gap(), before + 0.05);
  EXPECT_LE(Largest(gan.critic()), 0.3f + 1e-7);
  EXPECT_EQ(Largest(gan.generator() - generator), 0);
}

// L_G = -mean D(G): the generator moves up the critic, which stays, and along
// the terms.
TEST(Wgan, AGeneratorsStepRaisesItsScoreAndHeedsTheTerms) {
  WganOptions options = kSmall;
  options.dropout = 0;
  options.rate = 0.01;
  const PairShape shape{.image_dims = 2, .text_dims = 2};
  Wgan gan(shape, options, torch::kCPU), pulled(shape, options, torch::kCPU);
  gan.Start(Random(3));
  pulled.Start(Random(3));
  const TensorMap critic = Copy(gan.critic());
  const auto score = [](const Wgan& g) {
    Random same(5);
    return Score(g.critic(), g.Sample(64, same)).mean().item<double>();
  };
  const auto first = [](const Wgan& g) {
    Random same(5);
    return g.Sample(64, same).select(1, 0).mean().item<double>();
  };
  const double before = score(gan);
  Random random(4), again(4);
  for (int i = 0; i < 5; ++i) {
    gan.GeneratorStep(16, random, {});
    pulled.GeneratorStep(16, again, [](const torch::Tensor& F_g) {
      return 100 * (F_g.select(1, 0) - 9).square().mean();
    });
  }
  EXPECT_GT(score(gan), before);
  EXPECT_GT(first(pulled), first(gan) + 0.01);
  EXPECT_EQ(Largest(gan.critic() - critic), 0);
  for (const auto& [name, w] : gan.critic()) EXPECT_FALSE(w.grad().defined()) << name;
}

// Two clumps at (4, 1 +- 1): what is generated starts at 0 and moves to their
// mean, and spreads along the second axis only.
TEST(Wgan, LearnsAMixtureOfTwoGaussians) {
  Random random(6);
  torch::Tensor real = 0.1 * RandomNormal({256, 2}, random);
  real.select(1, 0).add_(4);
  real.select(1, 1).add_(torch::tensor({0.f, 2.f}).repeat({128}));
  const WganOptions options{.noise = 4,
                            .width = 16,
                            .critic_steps = 5,
                            .batch = 64,
                            .dropout = 0,
                            .rate = 2e-3,
                            .clip = 0.1};
  Wgan gan({.image_dims = 1, .text_dims = 1}, options, torch::kCPU);
  gan.Start(Random(7));
  const auto off = [&] {
    Random same(8);
    return (gan.Sample(512, same).mean(0) - real.mean(0)).norm().item<double>();
  };
  EXPECT_GT(off(), 3.5);
  gan.Train(real, 100, random, {});
  EXPECT_LT(off(), 1.0);
  Random same(8);
  const torch::Tensor spread = gan.Sample(512, same).std(0);
  EXPECT_GT(spread[1].item<double>(), 0.3);
  EXPECT_EQ(HealthOf(gan.Sample(128, same), real, 0.1), GeneratorHealth::kFine);
}

TEST(Wgan, AResumedTrainingIsTheSameToTheBit) {
  const PairShape shape{.image_dims = 2, .text_dims = 2, .output = GeneratorOutput::kUnit};
  Wgan a(shape, kSmall, torch::kCPU), b(shape, kSmall, torch::kCPU);
  Random data(1), first(2);
  const torch::Tensor real = RandomNormal({10, 4}, data);
  a.Start(Random(3));
  a.Train(real, 2, first, {});
  b.SetState(a.State());
  Random second(4), again(4);
  a.Train(real, 2, second, {});
  b.Train(real, 2, again, {});
  EXPECT_EQ(Largest(a.State() - b.State()), 0);
}

TEST(Wgan, OnlyAGeneratorIsOne) {
  Random random(1);
  const PairShape shape{.image_dims = 2, .text_dims = 3};
  const TensorMap g = NewGenerator(shape, kSmall, random);
  EXPECT_TRUE(IsGenerator(g, shape, kSmall));
  EXPECT_FALSE(IsGenerator({}, shape, kSmall));
  EXPECT_FALSE(IsGenerator(NewCritic(shape, kSmall, random), shape, kSmall));
  EXPECT_FALSE(IsGenerator(g, {.image_dims = 2, .text_dims = 2}, kSmall));
  TensorMap bad = Copy(g);
  bad["3.bias"][0] = INFINITY;
  EXPECT_FALSE(IsGenerator(bad, shape, kSmall));
  bad = Copy(g);
  bad["3.bias"] = bad["3.bias"].to(torch::kDouble);
  EXPECT_FALSE(IsGenerator(bad, shape, kSmall));
  bad = Copy(g);
  bad.erase("2.bias");
  bad["9.bias"] = torch::zeros({1});
  EXPECT_FALSE(IsGenerator(bad, shape, kSmall));
}

}  // namespace
}  // namespace crossilo

// DJSRH's own similarity and loss, then what holds for JDSH too.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

#include "crossilo/models/code_affinity.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

constexpr char kSmall[] = "bits = 8\nhidden_image = 4\nhidden_text = 4\n";

std::unique_ptr<HashModel> Model(const std::string& base, const std::string& table,
                                 const ModelShape& shape = {2, 2, 0}) {
  return NewModel(FindModel(base), shape, Config::Parse(table, "test"), Random(1));
}

Silo MakeSilo(const torch::Tensor& image, const torch::Tensor& text) {
  return {.all = {image, text, torch::Tensor()}};
}

Silo RandomSilo(int64_t n, const ModelShape& shape) {
  Random random(5);
  return MakeSilo(RandomUniform({n, shape.image_dims}, 0, 1, random),
                  RandomUniform({n, shape.text_dims}, 0, 1, random));
}

torch::Tensor Matrix(const std::vector<double>& values) {
  const auto rows = static_cast<int64_t>(std::sqrt(values.size()));
  return torch::tensor(values, torch::kFloat).view({rows, rows});
}

CodeAffinityLearner& Affinity(const std::unique_ptr<Learner>& learner) {
  return dynamic_cast<CodeAffinityLearner&>(*learner);
}

const std::vector<Modality> kBoth = {Modality::kImage, Modality::kText};

// Cosine 0.6 between the images, 0 between the texts.
const Silo kTwo = MakeSilo(torch::tensor({{2.0f, 0.0f}, {3.0f, 4.0f}}),
                           torch::tensor({{1.0f, 0.0f}, {0.0f, 5.0f}}));

torch::Tensor Target(const std::string& keys, const torch::Tensor& image,
                     const torch::Tensor& text) {
  auto model = Model("djsrh", kSmall + keys);
  const Silo silo = MakeSilo(image, text);
  return Affinity(model->Learn(silo, Random(1), Random(0))).Target(image, text);
}

// S_I = 2 * 0.6 - 1 = 0.2 and S_T = -1 off the diagonal, so St = 0.75 * 0.2 -
// 0.25 = -0.1 there and 1 on it; St St^T has 1.01 and -0.2.  With eta / m = 0.2:
//   1.5 (0.6 * 1 + 0.2 * 1.01) = 1.203,  1.5 (0.6 * -0.1 + 0.2 * -0.2) = -0.15
TEST(Djsrh, SimilarityWorkedByHand) {
  EXPECT_TRUE(torch::allclose(Target("beta = 0.75\n", kTwo.all.image, kTwo.all.text),
                              Matrix({1.203, -0.15, -0.15, 1.203}), 1e-5, 1e-6));
}

// One sample: 1.5 (0.6 + 0.4 / 1).  Three that are all alike: St is all 1, so
// St St^T / 3 is too.  A nominal m would give other numbers.
TEST(Djsrh, NeighboursCountByTheSamplesOfTheBatch) {
  for (int64_t m : {1, 3}) {
    const torch::Tensor S = Target("", torch::ones({m, 2}), torch::ones({m, 2}));
    EXPECT_TRUE(torch::allclose(S, torch::full({m, m}, 1.5), 1e-5, 1e-6)) << S;
  }
}

TEST(Djsrh, ATextWithoutWordsIsUnlikeAllAndItself) {
  const torch::Tensor text = torch::tensor({{1.0f, 0.0f}, {0.0f, 0.0f}});
  EXPECT_TRUE(torch::allclose(Target("beta = 0.0\neta = 0.0\nmu = 1.0\n", kTwo.all.image, text),
                              Matrix({1, -1, -1, -1})));
}

TEST(Djsrh, ObjectiveWorkedByHand) {
  auto model = Model("djsrh", kSmall);
  auto learner = model->Learn(kTwo, Random(1), Random(0));
  const torch::Tensor B_I = Matrix({1, 0, 0, 1}), B_T = Matrix({1, 0, 1, 0});
  const torch::Tensor S = Matrix({1, 0.5, 0.5, -1});
  // B_I B_T^T = (1 1; 0 0): errors 0, 0.5, -0.5, 1;  B_I B_I^T = (1 0; 0 1): 0, -0.5, -0.5, 2;
  // B_T B_T^T = (1 1; 1 1): 0, 0.5, 0.5, 2
  const double cross = 1.5 / 4, image = 4.5 / 4, text = 4.5 / 4;
  EXPECT_NEAR(Affinity(learner).Objective(B_I, B_T, S).item<double>(), cross + 0.1 * (image + text),
              1e-6);
}

// Codes of zeros have no likeness: what remains is S itself, three times.
TEST(Djsrh, LossOfZeroCodesWorkedByHand) {
  auto model = Model("djsrh", std::string(kSmall) + "beta = 0.75\nlambda = 0.5\n");
  {
    torch::NoGradGuard no_grad;
    for (auto& [name, parameter] : model->parameters()) parameter.zero_();
  }
  auto learner = model->Learn(kTwo, Random(1), Random(0));
  Seen seen;
  const double loss = learner->Loss({torch::tensor({0, 1}), kBoth}, seen).item<double>();
  EXPECT_NEAR(loss, (1 + 0.5 + 0.5) * (1.203 * 1.203 + 0.15 * 0.15) / 2, 1e-5);
}

class CodeAffinity : public testing::TestWithParam<std::string> {};

double AlphaOf(const HashModel& model) {
  return dynamic_cast<const CodeAffinityModel&>(model).alpha();
}

// alpha^2 after each epoch of rounds of two.
std::vector<int> Sharpness(const std::string& base, const std::string& keys, int rounds) {
  auto model = Model(base, kSmall + keys);
  auto learner = model->Learn(kTwo, Random(1), Random(0));
  Random random(1);
  std::vector<int> squares;
  for (int round = 0; round < rounds; ++round) {
    learner->BeginRound(random);
    for (int epoch = 0; epoch < 2; ++epoch) {
      learner->PlanEpoch(epoch, 2, random);
      squares.push_back(static_cast<int>(std::lround(AlphaOf(*model) * AlphaOf(*model))));
    }
  }
  return squares;
}

TEST_P(CodeAffinity, CodesSharpenWithTheRootOfEpochs) {
  EXPECT_EQ(Sharpness(GetParam(), "", 3), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Sharpness(GetParam(), "alpha_epochs = 3\n", 3), (std::vector<int>{1, 2, 3, 3, 3, 3}));
  EXPECT_EQ(Sharpness(GetParam(), "epochs = 'round'\n", 3), (std::vector<int>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(Sharpness(GetParam(), "", 101).back(), 200);
  EXPECT_EQ(Sharpness(GetParam(), "alpha_epochs = 0\n", 101).back(), 202);
}

TEST_P(CodeAffinity, AResumedSiloEncodesAsTheStoppedOne) {
  for (const char* epochs : {"global", "round"}) {
    const std::string keys = std::string(kSmall) + "epochs = '" + epochs + "'\n";
    auto model = Model(GetParam(), keys), again = Model(GetParam(), keys);
    auto learner = model->Learn(kTwo, Random(1), Random(0));
    Random random(1);
    for (int round = 0; round < 2; ++round) {
      learner->BeginRound(random);
      for (int epoch = 0; epoch < 3; ++epoch) learner->PlanEpoch(epoch, 2, random);
    }
    auto resumed = again->Learn(kTwo, Random(1), Random(0));
    const torch::Tensor fresh = again->Encode(Modality::kText, kTwo.all.text).code;
    resumed->SetState(learner->State());
    const Encoded a = model->Encode(Modality::kText, kTwo.all.text);
    const Encoded b = again->Encode(Modality::kText, kTwo.all.text);
    EXPECT_TRUE(torch::equal(a.code, b.code));
    EXPECT_FALSE(torch::equal(a.code, fresh));
    EXPECT_TRUE(torch::equal(a.code.sign(), fresh.sign()));
    const double alpha = std::sqrt(std::string(epochs) == "global" ? 6.0 : 3.0);
    EXPECT_TRUE(torch::allclose(a.code, torch::tanh(alpha * a.raw)));
    // The epochs that follow count on.
    Random one(2), two(2);
    learner->PlanEpoch(3, 2, one);
    resumed->PlanEpoch(3, 2, two);
    EXPECT_EQ(AlphaOf(*model), AlphaOf(*again));
    EXPECT_GT(AlphaOf(*model), alpha);
  }
}

TEST_P(CodeAffinity, AnEpochTakesEverySampleButALoneLastOne) {
  auto model = Model(GetParam(), kSmall);
  Random random(1);
  const auto sizes = [&](int64_t n) {
    const Silo silo = RandomSilo(n, {2, 2, 0});
    std::vector<int64_t> out;
    auto learner = model->Learn(silo, Random(1), Random(0));
    for (const Step& step : learner->PlanEpoch(0, 4, random)) {
      out.push_back(step.rows.size(0));
      Seen seen;
      EXPECT_TRUE(std::isfinite(learner->Loss(step, seen).item<double>()));
    }
    return out;
  };
  EXPECT_EQ(sizes(10), (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(sizes(9), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(sizes(3), (std::vector<int64_t>{3}));
  EXPECT_EQ(sizes(1), (std::vector<int64_t>{1}));
}

TEST_P(CodeAffinity, TheOrderOfSamplesIsAllTheSame) {
  const ModelShape shape{5, 3, 0};
  auto model = Model(GetParam(), kSmall, shape);
  const Silo silo = RandomSilo(9, shape);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->PlanEpoch(0, 6, random);
  Seen seen;
  const auto loss = [&](const torch::Tensor& rows) {
    return learner->Loss({rows, kBoth}, seen).item<double>();
  };
  EXPECT_NEAR(loss(torch::tensor({0, 2, 5, 7})), loss(torch::tensor({7, 0, 5, 2})), 1e-6);
  EXPECT_GT(std::abs(loss(torch::tensor({0, 2, 5, 7})) - loss(torch::tensor({0, 2, 5, 8}))), 1e-4);
}

// Along the gradient the loss changes by the gradient's length.
TEST_P(CodeAffinity, GradientIsTheFiniteDifference) {
  const ModelShape shape{5, 3, 0};
  auto model = Model(GetParam(), "bits = 16\nhidden_image = 20\nhidden_text = 20\n", shape);
  const Silo silo = RandomSilo(8, shape);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->PlanEpoch(0, 8, random);
  const Step step{torch::arange(8), kBoth};
  Seen seen;
  learner->Loss(step, seen).backward();
  for (const std::string net : {"image", "text"}) {
    TensorMap gradient;
    double square = 0;
    for (const auto& [name, parameter] : model->parameters()) {
      if (!name.starts_with(net)) continue;
      gradient[name] = parameter.grad().clone();
      square += gradient[name].square().sum().item<double>();
    }
    const double length = std::sqrt(square), step_length = 2e-3;
    ASSERT_GT(length, 0.05);
    const auto moved = [&](double by) {
      torch::NoGradGuard no_grad;
      for (auto& [name, g] : gradient) model->parameters().at(name).add_(g, by / length);
      const double loss = learner->Loss(step, seen).item<double>();
      for (auto& [name, g] : gradient) model->parameters().at(name).add_(g, -by / length);
      return loss;
    };
    const double slope = (moved(step_length) - moved(-step_length)) / (2 * step_length);
    EXPECT_NEAR(slope / length, 1, 0.01) << net;
  }
}

// What is learned before the base must not bend the target to the codes.
TEST_P(CodeAffinity, TheTargetCarriesNoGradientIntoATrainedInput) {
  const ModelShape shape{5, 3, 0};
  auto model = Model(GetParam(), std::string(kSmall) + "input = 'mlp'\ninput_dims = 6\n", shape);
  const Silo silo = RandomSilo(8, shape);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->PlanEpoch(0, 8, random);
  const torch::Tensor weight = model->parameters().at("image.input.weight");
  Seen seen;
  learner->Loss({torch::arange(8), kBoth}, seen).backward();
  const torch::Tensor gradient = weight.grad().clone();
  weight.mutable_grad().zero_();
  const Encoded image = model->Encode(Modality::kImage, silo.all.image);
  const Encoded text = model->Encode(Modality::kText, silo.all.text);
  const torch::Tensor S = Affinity(learner).Target(image.input.detach(), text.input.detach());
  Affinity(learner).Objective(UnitRows(image.output), UnitRows(text.output), S).backward();
  EXPECT_GT(gradient.abs().max().item<double>(), 1e-4);
  EXPECT_TRUE(torch::allclose(gradient, weight.grad(), 1e-4, 1e-7));
}

TEST_P(CodeAffinity, OneImageLayerIsAHashLayerOnTheFeatures) {
  auto model = Model(GetParam(), std::string(kSmall) + "layers_image = 1\n", {5, 3, 0});
  EXPECT_EQ(model->parameters().count("image.hidden.weight"), 0u);
  EXPECT_EQ(model->parameters().at("image.hash.weight").size(1), 5);
  EXPECT_EQ(model->Encode(Modality::kImage, torch::ones({2, 5})).code.size(1), 8);
}

// Two clusters whose pictures and words have nothing in common but the pairing.
Silo Clusters(int64_t n) {
  Random random(9);
  const torch::Tensor half = (torch::arange(n) % 2).view({n, 1}).to(torch::kFloat);
  const auto features = [&](int64_t dims) {
    const torch::Tensor centres = 2 * torch::eye(2, dims);
    return (torch::cat({half, 1 - half}, 1).mm(centres) + 0.3 * RandomNormal({n, dims}, random));
  };
  return MakeSilo(features(6), features(5));
}

// How much farther the nearest stranger is than the farthest of the same
// cluster, in bits, from texts to pictures.
double Gap(const HashModel& model, const Silo& silo) {
  torch::NoGradGuard no_grad;
  const torch::Tensor a = model.Encode(Modality::kText, silo.all.text).code.sign();
  const torch::Tensor b = model.Encode(Modality::kImage, silo.all.image).code.sign();
  const torch::Tensor distance = (a.size(1) - a.mm(b.t())) / 2;
  const torch::Tensor half = torch::arange(silo.size()) % 2;
  const torch::Tensor same = half.unsqueeze(0) == half.unsqueeze(1);
  return (distance.masked_select(~same).min() - distance.masked_select(same).max()).item<double>();
}

TEST_P(CodeAffinity, LearnsWhichPicturesAndWordsBelongTogether) {
  auto model = Model(GetParam(), "bits = 16\nhidden_image = 16\nhidden_text = 16\n", {6, 5, 0});
  const Silo silo = Clusters(40);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  EXPECT_LT(Gap(*model, silo), 0);
  TensorMap velocity = ZerosLike(Copy(model->parameters()));
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (const Step& step : learner->PlanEpoch(epoch, 10, random)) {
      Seen seen;
      learner->Loss(step, seen).backward();
      torch::NoGradGuard no_grad;
      for (auto& [name, parameter] : model->parameters()) {
        velocity[name].mul_(0.9).add_(parameter.grad());
        parameter.add_(velocity[name], -0.02);
        parameter.mutable_grad().zero_();
      }
    }
  }
  EXPECT_GT(Gap(*model, silo), 3);
}

// 100,000 samples squared would be 40 GB.
TEST_P(CodeAffinity, ALargeSiloNeedsNoMemoryOfItsSquare) {
  const auto peak_kb = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const ModelShape shape{4, 3, 0};
  auto model = Model(GetParam(), kSmall, shape);
  const auto before = peak_kb();
  const Silo silo = RandomSilo(100000, shape);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  const std::vector<Step> steps = learner->PlanEpoch(0, 32, random);
  ASSERT_EQ(steps.size(), 3125u);
  for (int i : {0, 1, 3124}) {
    Seen seen;
    learner->Loss(steps[i], seen).backward();
    learner->AfterStep(steps[i]);
  }
  learner->EndEpoch();
  EXPECT_LT(Bytes(learner->State()), 1000);
  EXPECT_LT(peak_kb() - before, 300 * 1024);
}

INSTANTIATE_TEST_SUITE_P(Bases, CodeAffinity, testing::Values("djsrh", "jdsh"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace crossilo

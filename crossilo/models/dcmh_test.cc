#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

std::unique_ptr<HashModel> Model(const std::string& table, int64_t dims) {
  return FindModel("dcmh").make({dims, dims, 2}, Config::Parse(table, "test"), Random(1));
}

void Set(HashModel& model, const std::string& name, const torch::Tensor& value) {
  torch::NoGradGuard no_grad;
  model.parameters().at(name).copy_(value);
}

// Two samples of one feature each; 8 bits; the image network maps x to x times
// eight ones.
TEST(Dcmh, LossOfOneStepWorkedByHand) {
  auto model = Model("bits = 8\nhidden_image = 1\nhidden_text = 1\neta = 1.0\n", 1);
  Set(*model, "image.hidden.weight", torch::ones({1, 1}));
  Set(*model, "image.hash.weight", torch::ones({8, 1}));
  for (const char* bias : {"image.hidden.bias", "image.hash.bias"}) {
    Set(*model, bias, torch::zeros_like(model->parameters().at(bias)));
  }
  Silo silo;
  silo.all = {torch::ones({2, 1}), torch::ones({2, 1}), torch::eye(2)};
  auto learner = model->Learn(silo, Random(2), Random(0));
  const torch::Tensor ones = torch::ones({1, 8});
  learner->SetState({{"F", torch::cat({9 * ones, 0.5 * ones})},
                     {"G", torch::cat({0.5 * ones, -0.25 * ones})},
                     {"B", torch::cat({-ones, ones})}});
  Seen seen;
  const double loss = learner->Loss({torch::tensor({0}), {Modality::kImage}}, seen).item<double>();
  // f_0 = 1: theta_00 = 1/2 * 8 * 1 * 0.5 = 2 with S = 1, theta_01 = -1 with S = 0
  const double likelihood = std::log1p(std::exp(2)) - 2 + std::log1p(std::exp(-1));
  const double quantization = 8 * 2 * 2;  // (-1 - 1)^2, eight bits
  const double balance = 8 * 1.5 * 1.5;   // f_0 + F_1 = 1.5; the old F_0 = 9 is gone
  EXPECT_NEAR(loss, (likelihood + quantization + balance) / (2 * 1), 1e-5);
  EXPECT_TRUE(torch::equal(learner->State().at("F")[0], ones[0]));
}

Silo RandomSilo(int64_t n, int64_t dims) {
  Random random(5);
  Silo silo;
  silo.all = {RandomNormal({n, dims}, random), RandomNormal({n, dims}, random),
              (RandomUniform({n, 3}, 0, 1, random) > 0.5).to(torch::kFloat)};
  return silo;
}

// dJ/df_i = 1/2 sum_j (sigmoid(theta_ij) - S_ij) g_j + 2 gamma (f_i - B_i)
//           + 2 eta F^T 1, all over n b.
TEST(Dcmh, GradientIsTheClosedForm) {
  auto model = Model("bits = 16\nhidden_image = 6\nhidden_text = 6\ngamma = 0.7\neta = 0.3\n", 4);
  const Silo silo = RandomSilo(9, 4);
  auto learner = model->Learn(silo, Random(3), Random(0));
  const torch::Tensor rows = torch::tensor({1, 4, 7});
  Seen seen;
  const torch::Tensor loss = learner->Loss({rows, {Modality::kText}}, seen);
  const torch::Tensor g = seen.text.code;
  const torch::Tensor gradient = torch::autograd::grad({loss}, {g})[0];

  const TensorMap state = learner->State();
  const torch::Tensor theta = 0.5 * g.mm(state.at("F").t());
  const torch::Tensor labels = silo.all.labels;
  const torch::Tensor S = labels.index_select(0, rows).mm(labels.t()).gt(0).to(torch::kFloat);
  const torch::Tensor expected =
      (0.5 * (torch::sigmoid(theta) - S).mm(state.at("F")) +
       2 * 0.7 * (g - state.at("B").index_select(0, rows)) + 2 * 0.3 * state.at("G").sum(0)) /
      (9 * 3);
  EXPECT_TRUE(torch::allclose(gradient, expected, 1e-4, 1e-6));
}

TEST(Dcmh, TheBStepDoesNotRaiseTheQuantizationLoss) {
  auto model = Model("bits = 16\nhidden_image = 6\nhidden_text = 6\n", 4);
  const Silo silo = RandomSilo(9, 4);
  auto learner = model->Learn(silo, Random(3), Random(0));
  TensorMap state = learner->State();
  Random random(4);
  state["B"] = RandomNormal({9, 16}, random).sign();
  const auto quantization = [](const TensorMap& s) {
    return ((s.at("B") - s.at("F")).square().sum() + (s.at("B") - s.at("G")).square().sum())
        .item<double>();
  };
  learner->SetState(state);
  learner->EndEpoch();
  EXPECT_LT(quantization(learner->State()), quantization(state));
}

// Both silos have samples of class 1; those start at one code, and F at G.
TEST(Dcmh, ACommonStartIsTheSameAtEverySilo) {
  const Silo one{.all = {torch::ones({2, 4}), torch::ones({2, 4}), torch::eye(2)}};
  const Silo two{.all = {torch::zeros({1, 4}), torch::zeros({1, 4}), torch::eye(2).slice(0, 1)}};
  const auto start = [](const std::string& key, const Silo& silo, uint64_t own) {
    auto model = Model("bits = 16\nhidden_image = 2\nhidden_text = 2\nstart = '" + key + "'\n", 4);
    return model->Learn(silo, Random(own), Random(9))->State();
  };
  const TensorMap a = start("common", one, 1), b = start("common", two, 2);
  EXPECT_TRUE(torch::equal(a.at("F")[1], b.at("F")[0]));
  EXPECT_TRUE(torch::equal(a.at("B")[1], b.at("B")[0]));
  EXPECT_TRUE(torch::equal(a.at("F"), a.at("G")));
  EXPECT_FALSE(torch::equal(a.at("F")[0], a.at("F")[1]));
  const TensorMap c = start("private", one, 1), d = start("private", two, 2);
  EXPECT_FALSE(torch::equal(c.at("F")[1], d.at("F")[0]));
  EXPECT_FALSE(torch::equal(c.at("F"), c.at("G")));
}

TEST(Dcmh, AnEpochIsFloorNOverBatchStepsAModality) {
  auto model = Model("bits = 16\nsampling = 'fresh'\n", 4);
  const Silo silo = RandomSilo(10, 4);
  auto learner = model->Learn(silo, Random(3), Random(0));
  Random random(1);
  const auto steps = learner->PlanEpoch(0, 4, random);
  ASSERT_EQ(steps.size(), 4u);  // floor(10 / 4) = 2 for each
  EXPECT_EQ(steps[0].trains[0], Modality::kImage);
  EXPECT_EQ(steps[3].trains[0], Modality::kText);
  EXPECT_EQ(steps[0].rows.size(0), 4);
  // A silo smaller than the batch trains on all it has.
  EXPECT_EQ(learner->PlanEpoch(0, 128, random).size(), 2u);
}

TEST(Dcmh, StepsTrainOnlyTheirOwnNetwork) {
  auto model = Model("bits = 16\n", 4);
  for (const std::string& name : model->ParametersOf({Modality::kText})) {
    EXPECT_TRUE(name.starts_with("text.")) << name;
  }
}

TEST(Dcmh, WithoutLabelsItSaysWhatToUse) {
  auto model = Model("bits = 16\n", 4);
  Silo silo = RandomSilo(4, 4);
  silo.all.labels = torch::Tensor();
  EXPECT_THROW(model->Learn(silo, Random(1), Random(0)), Error);
}

TEST(HashModel, NeedsLabelsWhereLearningWithoutThrows) {
  const Config table = Config::Parse("bits = 8\nhidden_image = 2\nhidden_text = 2\n", "test");
  const Silo unlabelled{.all = {torch::rand({2, 3}), torch::rand({2, 3}), {}, {}}};
  for (const ModelKind& kind : AllModels()) {
    const auto model = kind.make({3, 3, 2, 1}, table, Random(1));
    EXPECT_EQ(model->needs_labels(), kind.supervised) << kind.name;
    if (kind.supervised) {
      EXPECT_THROW(model->Learn(unlabelled, Random(1), Random(0)), Error) << kind.name;
    } else {
      EXPECT_NO_THROW(model->Learn(unlabelled, Random(1), Random(0))) << kind.name;
    }
  }
}

}  // namespace
}  // namespace crossilo

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

double Softplus(double x) { return std::log1p(std::exp(x)); }

// All layers are the identity, except that the image enhancement stretches:
// S_V is the image, S_T = S'_T the text, S'_V the image times `stretch`.
std::unique_ptr<HashModel> Identity(const std::string& table, double stretch = 2) {
  auto model = FindModel("scmr").make(
      {2, 2, 2}, Config::Parse("dims = 2\nhidden = 2\n" + table, "test"), Random(1));
  torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : model->parameters()) {
    if (name.ends_with("bias")) parameter.zero_();
    if (name.ends_with("weight")) parameter.copy_(torch::eye(2));
  }
  model->parameters().at("image.enhance.weight").mul_(stretch);
  return model;
}

const Step kBoth = {torch::tensor({0, 1}), {Modality::kImage, Modality::kText}};

double Loss(HashModel& model, const Silo& silo, const Step& step = kBoth) {
  Seen seen;
  return model.Learn(silo, Random(1), Random(0))->Loss(step, seen).item<double>();
}

// S_V = (1,0), (0,1); S_T = (0,1), (0,2); S'_V = (2,0), (0,2); labels 0 and 1
Silo HandSilo() {
  Silo silo;
  silo.all = {torch::eye(2), torch::tensor({{0.0f, 1.0f}, {0.0f, 2.0f}}), torch::eye(2), {}};
  return silo;
}

const std::string kNoCs = "l_cs = false\n", kNoCcs = "l_ccs = false\n";
const std::string kFrobenius = "norm = 'frobenius'\n", kMatrix = "hinge = 'matrix'\n";
const double kRoot2 = std::sqrt(2.0), kRoot3 = std::sqrt(3.0), kRoot5 = std::sqrt(5.0);

// P(S_V) = Y; P(S_T) - Y = (-1,1), (0,1)
const double kImdRow = (kRoot2 + 1) / 2, kImdFrobenius = kRoot3 / 2;
// S_V - S_T = (1,-1), (0,-1); S'_V - S'_T = (2,-1), (0,0)
const double kCscRow = (kRoot2 + 1) / 2 + kRoot5 / 2, kCscFrobenius = kRoot3 + kRoot5;

// Sums over pairs of modalities; cosines are 0 or 1.
double Csd(double image_text) {
  const double apart = Softplus(0), same = Softplus(0.5) - 0.5, wrong = Softplus(0.5);
  const double vv = (2 * same + 2 * apart) / 4;
  const double vt = (2 * apart + wrong + same) / 4;
  const double tt = (2 * same + 2 * wrong) / 4;
  return vv + image_text * vt + tt;
}

TEST(Scmr, LabelTermWorkedByHand) {
  const Silo silo = HandSilo();
  EXPECT_NEAR(Loss(*Identity(kNoCs + kNoCcs), silo), kImdRow, 1e-6);
  EXPECT_NEAR(Loss(*Identity(kNoCs + kNoCcs + kFrobenius), silo), kImdFrobenius, 1e-6);
}

TEST(Scmr, CommonSpaceTermWorkedByHand) {
  const Silo silo = HandSilo();
  EXPECT_NEAR(Loss(*Identity(kNoCcs), silo), kImdRow + 0.1 * (Csd(2) + kCscRow), 1e-6);
  EXPECT_NEAR(Loss(*Identity(kNoCcs + "csd = '3term'\nalpha = 2.0\n"), silo),
              kImdRow + 2 * (Csd(1) + kCscRow), 1e-5);
  EXPECT_NEAR(Loss(*Identity(kNoCcs + kFrobenius), silo),
              kImdFrobenius + 0.1 * (Csd(2) + kCscFrobenius), 1e-6);
}

// Image: |S'_V - S_T| = root 5, 0 against |S'_V - S_V| = 1, 1.
// Text: |S'_T - S_V| = root 2, 1 against |S'_T - S_T| = 0, 0.
TEST(Scmr, CompetitionWorkedByHand) {
  const Silo silo = HandSilo();
  const auto competition = [&](const std::string& table) {
    return (Loss(*Identity(kNoCs + table), silo) - Loss(*Identity(kNoCs + kNoCcs + table), silo)) /
           0.1;
  };
  EXPECT_NEAR(competition(""), (kRoot5 - 1) / 2 + (kRoot2 + 1) / 2, 1e-5);
  EXPECT_NEAR(competition(kFrobenius), competition(""), 1e-5);  // a sample has one norm
  EXPECT_NEAR(competition(kMatrix), (kRoot5 / 2 - 1) + (kRoot2 + 1) / 2, 1e-5);
  EXPECT_NEAR(competition(kMatrix + kFrobenius), (kRoot5 - kRoot2) + kRoot3, 1e-5);
}

TEST(Scmr, SwitchesTakeTheirTermAndNoOther) {
  const Silo silo = HandSilo();
  const double all = Loss(*Identity(""), silo), none = Loss(*Identity(kNoCs + kNoCcs), silo);
  const double cs = Loss(*Identity(kNoCcs), silo), ccs = Loss(*Identity(kNoCs), silo);
  EXPECT_NEAR(all, cs + ccs - none, 1e-6);
  EXPECT_GT(cs, none);
  EXPECT_GT(ccs, none);
}

// Equal pairs: l_csc = 0 where the enhancements are equal, and S' is as far
// from the other modality's S as from its own, so L_ccs = 0.
TEST(Scmr, EqualPairsDoNotCompete) {
  Silo silo;
  silo.all = {torch::eye(2), torch::eye(2), torch::eye(2), {}};
  EXPECT_NEAR(Loss(*Identity(kNoCs), silo), 0, 1e-6);
  EXPECT_NEAR(Loss(*Identity(kNoCs + kMatrix), silo), 0, 1e-6);
  const double apart = Softplus(0), same = Softplus(0.5) - 0.5;
  EXPECT_NEAR(Loss(*Identity("", 1), silo), 0.1 * 4 * (2 * same + 2 * apart) / 4, 1e-6);
}

// Two shared labels are no more similar than one.
TEST(Scmr, SimilarityIsOneForAnySharedLabel) {
  Silo silo;
  silo.all = {torch::eye(2), torch::eye(2), torch::ones({2, 2}), {}};
  const double l_cs =
      (Loss(*Identity(kNoCcs, 1), silo) - Loss(*Identity(kNoCcs + kNoCs, 1), silo)) / 0.1;
  EXPECT_NEAR(l_cs, 4 * (2 * (Softplus(0.5) - 0.5) + 2 * Softplus(0)) / 4, 1e-5);
}

TEST(Scmr, RetrieveChoosesTheSpaceAndNotTheLoss) {
  const Silo silo = HandSilo();
  auto base = Identity(""), enhanced = Identity("retrieve = 'enhanced'\n");
  EXPECT_NEAR(Loss(*base, silo), Loss(*enhanced, silo), 1e-6);
  Seen seen;
  base->Learn(silo, Random(1), Random(0))->Loss(kBoth, seen);
  EXPECT_TRUE(torch::equal(seen.image.code, torch::eye(2)));
  enhanced->Learn(silo, Random(1), Random(0))->Loss(kBoth, seen);
  EXPECT_TRUE(torch::equal(seen.image.code, 2 * torch::eye(2)));
  EXPECT_TRUE(torch::equal(seen.image.hidden, torch::eye(2)));
  EXPECT_TRUE(torch::equal(seen.text.output, silo.all.text));
  EXPECT_TRUE(torch::equal(seen.text.raw, silo.all.text));
}

TEST(Scmr, TheCommonLayerLeaksBelowZero) {
  auto model = Identity("slope = 0.01\n");
  torch::NoGradGuard no_grad;
  model->parameters().at("common.weight").neg_();
  const torch::Tensor S = model->Encode(Modality::kImage, torch::eye(2)).output;
  EXPECT_TRUE(torch::allclose(S, -0.01 * torch::eye(2)));
}

TEST(Scmr, LossDoesNotDependOnTheOrderOfSamples) {
  auto model =
      FindModel("scmr").make({3, 3, 2}, Config::Parse("dims = 4\nhidden = 5\n", "test"), Random(1));
  Random random(2);
  Silo silo;
  silo.all = {
      RandomNormal({4, 3}, random), RandomNormal({4, 3}, random), torch::eye(2).repeat({2, 1}), {}};
  EXPECT_NEAR(Loss(*model, silo, {torch::tensor({0, 1, 2, 3}), kBoth.trains}),
              Loss(*model, silo, {torch::tensor({2, 0, 3, 1}), kBoth.trains}), 1e-5);
}

// Equal points, points at 0, one sample, one class.
TEST(Scmr, GradientIsFiniteWhereANormIsZero) {
  Silo equal, zero, one;
  equal.all = {torch::eye(2), torch::eye(2), torch::eye(2), {}};
  zero.all = {
      torch::zeros({2, 2}), torch::zeros({2, 2}), torch::eye(2).slice(0, 0, 1).repeat({2, 1}), {}};
  one.all = equal.all.Select(torch::tensor({0}));
  for (const Silo& silo : {equal, zero, one}) {
    for (const std::string& table : {std::string(), kFrobenius, kMatrix, kFrobenius + kMatrix}) {
      auto model = Identity(table, 1);
      auto learner = model->Learn(silo, Random(1), Random(0));
      Random random(1);
      const auto steps = learner->PlanEpoch(0, 100, random);
      ASSERT_EQ(steps.size(), 1u);
      Seen seen;
      learner->Loss(steps[0], seen).backward();
      for (const auto& [name, parameter] : model->parameters()) {
        EXPECT_TRUE(torch::isfinite(parameter.grad()).all().item<bool>()) << name << table;
      }
    }
  }
}

// What FedSCMR merges; the enhancements belong to their modality.
TEST(Scmr, TheCommonLayerIsTheLast) {
  auto model = Identity("");
  EXPECT_EQ(model->LastLayers(), std::vector<std::string>{"common"});
  const auto names = model->ParametersOf({Modality::kImage});
  EXPECT_NE(std::find(names.begin(), names.end(), "image.enhance.weight"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "text.enhance.weight"), names.end());
}

TEST(Scmr, WithoutLabelsItSaysWhatToUse) {
  Silo silo = HandSilo();
  silo.all.labels = torch::Tensor();
  EXPECT_THROW(Identity("")->Learn(silo, Random(1), Random(0)), Error);
}

}  // namespace
}  // namespace crossilo

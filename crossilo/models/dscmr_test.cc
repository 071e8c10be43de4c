#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

double Softplus(double x) { return std::log1p(std::exp(x)); }

// All layers are the identity, so u is the image and v the text itself.
std::unique_ptr<HashModel> Identity() {
  auto model = FindModel("dscmr").make({2, 2, 2}, Config::Parse("dims = 2\nhidden = 2\n", "test"),
                                       Random(1));
  torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : model->parameters()) {
    if (name.ends_with("bias")) parameter.zero_();
    if (name.ends_with("weight")) parameter.copy_(torch::eye(2));
  }
  return model;
}

const std::vector<Modality> kBoth = {Modality::kImage, Modality::kText};

TEST(Dscmr, LossWorkedByHand) {
  auto model = Identity();
  Silo silo;
  // u_0 = (1,0), u_1 = (0,1), v_0 = v_1 = (0,1), labels 0 and 1
  silo.all = {torch::eye(2), torch::tensor({{0.0f, 1.0f}, {0.0f, 1.0f}}), torch::eye(2)};
  auto learner = model->Learn(silo, Random(1), Random(0));
  Seen seen;
  const double loss = learner->Loss({torch::tensor({0, 1}), kBoth}, seen).item<double>();
  const double root2 = std::sqrt(2.0);
  const double term1 = 0 + (root2 + 0) / 2;  // v_0 is read as class 1
  const double apart = Softplus(0), same = Softplus(0.5) - 0.5, wrong = Softplus(0.5);
  const double uu = (2 * same + 2 * apart) / 4;
  const double uv = (2 * apart + wrong + same) / 4;
  const double vv = (2 * same + 2 * wrong) / 4;
  const double term3 = (root2 + 0) / 2;
  EXPECT_NEAR(loss, term1 + 1e-3 * (uu + uv + vv) + 1e-1 * term3, 1e-6);
}

TEST(Dscmr, LossDoesNotDependOnTheOrderOfSamples) {
  auto model = FindModel("dscmr").make({3, 3, 2}, Config::Parse("dims = 4\nhidden = 5\n", "test"),
                                       Random(1));
  Random random(2);
  Silo silo;
  silo.all = {RandomNormal({4, 3}, random), RandomNormal({4, 3}, random),
              torch::eye(2).repeat({2, 1})};
  auto learner = model->Learn(silo, Random(1), Random(0));
  Seen seen;
  const double a = learner->Loss({torch::tensor({0, 1, 2, 3}), kBoth}, seen).item<double>();
  const double b = learner->Loss({torch::tensor({2, 0, 3, 1}), kBoth}, seen).item<double>();
  EXPECT_NEAR(a, b, 1e-5);
}

// The common layer and the classifier belong to both modalities.
TEST(Dscmr, SharedLayersTrainWithEither) {
  auto model = Identity();
  const auto names = model->ParametersOf({Modality::kImage});
  EXPECT_NE(std::find(names.begin(), names.end(), "common.weight"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "text.own.weight"), names.end());
}

// A pair whose two points coincide has a zero difference: its gradient must
// stay finite.
TEST(Dscmr, GradientIsFiniteWhereANormIsZero) {
  auto model = Identity();
  Silo silo;
  silo.all = {torch::eye(2), torch::eye(2), torch::eye(2)};
  auto learner = model->Learn(silo, Random(1), Random(0));
  Seen seen;
  learner->Loss({torch::tensor({0, 1}), kBoth}, seen).backward();
  for (const auto& [name, parameter] : model->parameters()) {
    EXPECT_TRUE(torch::isfinite(parameter.grad()).all().item<bool>()) << name;
  }
}

}  // namespace
}  // namespace crossilo

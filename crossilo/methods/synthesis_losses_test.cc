#include "crossilo/methods/synthesis_losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/methods/synthesis.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

double Value(const torch::Tensor& x) { return x.item<double>(); }

// x_0 on its prototype, x_1 between both, prototypes at a right angle, sigma
// 1/2.  Cosines (1, 0) and (s, s), s = 1/sqrt 2:
//   -log e^2 / (e^2 + e^0) = log(1 + e^-2) and log 2, in both forms: with two
//   prototypes there is one negative.
TEST(SynthesisLosses, IndirectContrastOfTwoPrototypes) {
  const torch::Tensor C = torch::tensor({{2.0, 0.0}, {0.0, 1.0}});
  const torch::Tensor x = torch::tensor({{3.0, 0.0}, {1.0, 1.0}}), own = torch::tensor({0, 1});
  const double expected = (std::log1p(std::exp(-2)) + std::log(2)) / 2;
  for (bool literal : {false, true}) {
    EXPECT_NEAR(Value(IndirectContrast(x, C, own, 0.5, literal)), expected, 1e-6);
  }
}

// Cosines (1, 0, -1) to three prototypes, the first its own, sigma 1:
//   infonce  log(1 + e^-1 + e^-2);  literal  log(1 + e^(0 - 1 - 1)).
TEST(SynthesisLosses, WithThreePrototypesTheFormsDiffer) {
  const torch::Tensor C = torch::tensor({{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}});
  const torch::Tensor x = torch::tensor({{1.0, 0.0}}), own = torch::tensor({0});
  EXPECT_NEAR(Value(IndirectContrast(x, C, own, 1, false)),
              std::log(1 + std::exp(-1) + std::exp(-2)), 1e-6);
  EXPECT_NEAR(Value(IndirectContrast(x, C, own, 1, true)), std::log1p(std::exp(-2)), 1e-6);
}

// Images (1,0), (0,1); texts (1,0), (1,0): cosines {{1,1},{0,0}}, sigma 1/2,
// so exponents {{2,2},{0,0}}.
//   labels 0, 1.  infonce: both rows log 2.  literal: same 2 + 0, different
//   2 + 0: log 2.
//   labels 0, 0.  infonce: 0.  literal: same 4, different an empty sum:
//   log(1 + e^(0 - 4)).
TEST(SynthesisLosses, DirectContrastOfTwoPairs) {
  const torch::Tensor x = torch::tensor({{1.0, 0.0}, {0.0, 1.0}});
  const torch::Tensor y = torch::tensor({{1.0, 0.0}, {1.0, 0.0}});
  const torch::Tensor apart = torch::tensor({0, 1}), alike = torch::tensor({0, 0});
  EXPECT_NEAR(Value(DirectContrast(x, y, apart, 0.5, false)), std::log(2), 1e-6);
  EXPECT_NEAR(Value(DirectContrast(x, y, apart, 0.5, true)), std::log(2), 1e-6);
  EXPECT_NEAR(Value(DirectContrast(x, y, alike, 0.5, false)), 0, 1e-6);
  EXPECT_NEAR(Value(DirectContrast(x, y, alike, 0.5, true)), std::log1p(std::exp(-4)), 1e-6);
  // Texts like their images: rows {2, 0} and {0, 2}; log(1 + e^-2); literal
  // same 4, different 0.
  EXPECT_NEAR(Value(DirectContrast(x, x, apart, 0.5, false)), std::log1p(std::exp(-2)), 1e-6);
  EXPECT_NEAR(Value(DirectContrast(x, x, apart, 0.5, true)), std::log1p(std::exp(-4)), 1e-6);
}

// P = (1, 0), Q = (1/2, 1/2): Z = (3/4, 1/4),
//   KL(P||Z) = log 4/3,  KL(Q||Z) = 1/2 log 2/3 + 1/2 log 2.
TEST(SynthesisLosses, JensenShannonWorkedByHand) {
  const torch::Tensor P = torch::tensor({{1.0, 0.0}}), Q = torch::tensor({{0.5, 0.5}});
  const double expected =
      0.5 * std::log(4. / 3) + 0.5 * (0.5 * std::log(2. / 3) + 0.5 * std::log(2));
  EXPECT_NEAR(Value(JensenShannon(P, Q)), expected, 1e-6);
  EXPECT_NEAR(Value(JensenShannon(Q, P)), expected, 1e-6);
  EXPECT_NEAR(Value(JensenShannon(Q, Q)), 0, 1e-6);
  const torch::Tensor other = torch::tensor({{0.0, 1.0}});
  EXPECT_NEAR(Value(JensenShannon(P, other)), std::log(2), 1e-6);
}

// Cosines 1 and 0: e / (e + 1) and 1 / (e + 1), whatever the lengths.
TEST(SynthesisLosses, SharesAreSoftmaxOfCosines) {
  const torch::Tensor q =
      PseudoLabelShares(torch::tensor({{5.0, 0.0}}), torch::tensor({{2.0, 0.0}, {0.0, 7.0}}));
  EXPECT_NEAR(q[0][0].item<double>(), std::exp(1) / (std::exp(1) + 1), 1e-6);
  EXPECT_NEAR(q.sum().item<double>(), 1, 1e-6);
}

// Of R = 10 rounds: 1, .95, ..., .5 + 1/20.
TEST(SynthesisLosses, TheScheduleFallsFromOneTowardsAHalf) {
  SynthesisLosses o;
  EXPECT_DOUBLE_EQ(o.AlphaAt(1, 10), 1);
  EXPECT_DOUBLE_EQ(o.AlphaAt(2, 10), 0.95);
  EXPECT_DOUBLE_EQ(o.AlphaAt(10, 10), 0.5 + 1. / 20);
  EXPECT_DOUBLE_EQ(o.AlphaAt(1, 1), 1);
  o.alpha_last = 1;
  EXPECT_DOUBLE_EQ(o.AlphaAt(10, 10), 1);
}

TEST(SynthesisLosses, TermsAddUpAndSwitchOff) {
  Random random(1);
  const PairViews C = Halves(RandomNormal({3, 5}, random), 2);
  const PairViews F_g = Halves(RandomNormal({6, 5}, random), 2);
  SynthesisLosses o;
  const torch::Tensor labels = NearestPrototype(F_g.fused, C.fused);
  const double L_c = Value(IndirectContrast(F_g.image, C.image, labels, .5, false)) +
                     Value(IndirectContrast(F_g.text, C.text, labels, .5, false)) +
                     Value(DirectContrast(Cosines(F_g.image, C.image), Cosines(F_g.text, C.text),
                                          labels, .5, false));
  const double jsd = Value(
      JensenShannon(PseudoLabelShares(F_g.image, C.image), PseudoLabelShares(F_g.text, C.text)));
  EXPECT_NEAR(Value(GeneratorTerms(F_g, C, o, 0.75)), L_c + 0.1 * 0.25 * jsd, 1e-5);
  o.cont = false;
  EXPECT_NEAR(Value(GeneratorTerms(F_g, C, o, 0.75)), 0.1 * 0.25 * jsd, 1e-6);
  EXPECT_FALSE(GeneratorTerms(F_g, C, o, 1).defined());
  o.jsd = false;
  EXPECT_FALSE(GeneratorTerms(F_g, C, o, 0.75).defined());
  // Halves of one width are compared themselves.
  o.cont = true;
  const PairViews even = Halves(F_g.fused.slice(1, 0, 4), 2), E = Halves(C.fused.slice(1, 0, 4), 2);
  const torch::Tensor nearest = NearestPrototype(even.fused, E.fused);
  const double direct = Value(DirectContrast(even.image, even.text, nearest, .5, false));
  const double indirect = Value(IndirectContrast(even.image, E.image, nearest, .5, false)) +
                          Value(IndirectContrast(even.text, E.text, nearest, .5, false));
  EXPECT_NEAR(Value(GeneratorTerms(even, E, o, 1)), direct + indirect, 1e-5);
}

TEST(SynthesisLosses, OnePairOnePrototypeAndZerosStayFinite) {
  for (bool literal : {false, true}) {
    SynthesisLosses o{.literal = literal};
    const torch::Tensor x = torch::zeros({1, 4}).set_requires_grad(true);
    const torch::Tensor loss = GeneratorTerms(Halves(x, 2), Halves(torch::ones({1, 4}), 2), o, 0.5);
    loss.backward();
    EXPECT_TRUE(std::isfinite(Value(loss)));
    EXPECT_TRUE(torch::isfinite(x.grad()).all().item<bool>());
  }
}

}  // namespace
}  // namespace crossilo

// What JDSH does beyond djsrh_test.cc's CodeAffinity, which runs for it too.

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/models/code_affinity.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// Of the two ends only what a test asks for.
constexpr char kSmall[] = "bits = 8\nhidden_image = 4\nhidden_text = 4\n";
constexpr char kImagesOnly[] = "a = 1.0\nb = 0.0\nl = 0.0\nmu = 1.0\n";
constexpr char kNothingStretched[] = "l1 = 0.0\nl2 = 0.0\n";

struct Jdsh {
  std::unique_ptr<HashModel> model;
  Silo silo;
  std::unique_ptr<Learner> learner;

  Jdsh(const std::string& keys, const torch::Tensor& image, const torch::Tensor& text)
      : model(NewModel(FindModel("jdsh"), {image.size(1), text.size(1), 0},
                       Config::Parse(kSmall + keys, "test"), Random(1))),
        silo{.all = {image, text, torch::Tensor()}},
        learner(model->Learn(silo, Random(1), Random(0))) {}

  CodeAffinityLearner& affinity() { return dynamic_cast<CodeAffinityLearner&>(*learner); }
  torch::Tensor Target() { return affinity().Target(silo.all.image, silo.all.text); }
  std::vector<Step> Plan(int64_t batch) {
    Random random(1);
    learner->BeginRound(random);
    return learner->PlanEpoch(0, batch, random);
  }
  // {MIN, MAX, LOC_LEFT, SCALE_LEFT, LOC_RIGHT, SCALE_RIGHT}
  torch::Tensor Fitted(int64_t batch) {
    Plan(batch);
    return learner->State().at("distribution");
  }
};

torch::Tensor Rows(const std::vector<double>& values, int64_t rows) {
  return torch::tensor(values, torch::kFloat).view({rows, -1});
}

void ExpectClose(const torch::Tensor& given, const std::vector<double>& expected) {
  const torch::Tensor flat = given.flatten().to(torch::kDouble);
  ASSERT_EQ(flat.size(0), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat[static_cast<int64_t>(i)].item<double>(), expected[i], 1e-5) << i;
  }
}

// Two samples whose images have that cosine.
torch::Tensor AtCosine(double c) { return Rows({1, 0, c, std::sqrt(1 - c * c)}, 2); }

// S_I = (1 0.2; 0.2 1).  The second text has no words, so S_T = (1 -1; -1 -1).
// Rows of S_I have length sqrt(1.04), those of S_T sqrt(2); with r = sqrt(2.08)
//   S_hi = (0.8 -1.2; -0.8 -1.2) / r,  whose symmetric part has -1 / r off the
// diagonal.  S0 = 0.5 S_I + 0.1 S_T + 0.4 that.
TEST(Jdsh, JointSimilarityWorkedByHand) {
  Jdsh jdsh(kNothingStretched, AtCosine(0.6), Rows({1, 0, 0, 0}, 2));
  const double r = std::sqrt(2.08), off = 1.4 * (0.1 - 0.1 - 0.4 / r);
  const std::vector<double> expected = {1.4 * (0.5 + 0.1 + 0.4 * 0.8 / r), off, off,
                                        1.4 * (0.5 - 0.1 - 0.4 * 1.2 / r)};
  ExpectClose(jdsh.Target(), expected);
}

// left = -0.5 - 2 * 0.1 = -0.7, right = -0.5 + 4 * 0.1 = -0.1.
TEST(Jdsh, BothEndsAreStretched) {
  const auto off = [](double similarity) {
    Jdsh jdsh(std::string(kImagesOnly) +
                  "dsdw = 'fixed'\nloc_left = -0.5\nscale_left = 0.1\nloc_right = -0.5\n"
                  "scale_right = 0.1\nmin = -0.9\nmax = 0.8\n",
              AtCosine((similarity + 1) / 2), torch::ones({2, 2}));
    const torch::Tensor S = jdsh.Target();
    EXPECT_NEAR(S[0][0].item<double>(), 1 * (1 + 0.2 * std::exp(1 - 0.8)), 1e-5);
    return S[0][1].item<double>();
  };
  EXPECT_NEAR(off(-0.8), -0.8 * (1 + 0.1 * std::exp(-(-0.8 + 0.9))), 1e-5);
  EXPECT_NEAR(off(-0.4), -0.4, 1e-5);
  EXPECT_NEAR(off(0.3), 0.3 * (1 + 0.2 * std::exp(0.3 - 0.8)), 1e-5);
  // Above the right bound and still negative: pushed down, as the authors do.
  EXPECT_NEAR(off(-0.05), -0.05 * (1 + 0.2 * std::exp(-0.05 - 0.8)), 1e-5);
}

// -0.4 lies below left = 0.5 and above right = -0.41.  Stretched by the first
// it has fallen below the second.
TEST(Jdsh, TheSecondBoundSeesWhatTheFirstDid) {
  Jdsh jdsh(std::string(kImagesOnly) +
                "dsdw = 'fixed'\nloc_left = 0.5\nscale_left = 0.0\nloc_right = -0.41\n"
                "scale_right = 0.0\nmin = -0.9\nmax = 0.8\n",
            AtCosine(0.3), torch::ones({2, 2}));
  EXPECT_NEAR(jdsh.Target()[0][1].item<double>(), -0.4 * (1 + 0.1 * std::exp(-0.5)), 1e-5);
}

TEST(Jdsh, FixedConstantsAreMirflickrsByDefault) {
  // 0.5 * -0.6 + 0.1 * 1 + 0.4 * S_hi:  rows (1, -0.6) / sqrt(1.36) and (1, 1) /
  // sqrt(2) give 0.4 / sqrt(2.72), above right = -0.49 + 4 * 0.088 = -0.138.
  Jdsh jdsh("dsdw = 'fixed'\n", AtCosine(0.2), torch::ones({2, 2}));
  const double S0 = -0.3 + 0.1 + 0.4 * 0.4 / std::sqrt(2.72);
  ASSERT_GT(S0, -0.138);
  EXPECT_NEAR(jdsh.Target()[0][1].item<double>(), 1.4 * S0 * (1 + 0.2 * std::exp(S0 - 0.68)), 1e-5);
}

TEST(Jdsh, ObjectiveWorkedByHand) {
  Jdsh jdsh("", torch::eye(2), torch::eye(2));
  const torch::Tensor B_I = torch::eye(2), B_T = Rows({1, 0, 1, 0}, 2);
  const torch::Tensor S = Rows({1, 0.5, 0.5, -1}, 2);
  // B_I B_T^T = (1 1; 0 0): errors 0, 0.5, -0.5, 1, transposed the same;
  // B_I B_I^T: 0, -0.5, -0.5, 2;  B_T B_T^T: 0, 0.5, 0.5, 2;  <b_I, b_T> = 1, 0
  EXPECT_NEAR(jdsh.affinity().Objective(B_I, B_T, S).item<double>(),
              2 * 1.5 / 4 - 0.5 + 0.1 * (4.5 / 4 + 4.5 / 4), 1e-6);
}

// Nothing is left but the reward of pairs that agree.
TEST(Jdsh, MatchedPairsAreRewarded) {
  Jdsh jdsh("", torch::eye(2), torch::eye(2));
  const torch::Tensor B = torch::eye(2);
  EXPECT_NEAR(jdsh.affinity().Objective(B, B, B).item<double>(), -1, 1e-6);
}

// Cosines 0.1, 0.2, 0.6: similarities -0.8, -0.6, 0.2, in one bin, whose middle
// is -0.3.
TEST(Jdsh, FitWorkedByHand) {
  const torch::Tensor gram = Rows({1, 0.1, 0.2, 0.1, 1, 0.6, 0.2, 0.6, 1}, 3);
  Jdsh jdsh(kImagesOnly, torch::linalg_cholesky(gram), torch::ones({3, 2}));
  const double left = std::sqrt((0.5 * 0.5 + 0.3 * 0.3) / 2), right = 0.5;
  ExpectClose(jdsh.Fitted(4), {-0.8, 0.2, -0.3, left, -0.3, right});
  // left bound -0.3 - 2 * left = -1.12, right bound -0.3 + 4 * 0.5 = 1.7: none is
  // beyond.
  ExpectClose(jdsh.Target(), {1, -0.8, -0.6, -0.8, 1, 0.2, -0.6, 0.2, 1});
}

// Four alike and one at a right angle: similarities 6 times 1, 4 times -1, in
// three bins, of which the last has its middle at 2/3.
TEST(Jdsh, FitFindsTheFullestBin) {
  Jdsh jdsh(kImagesOnly, Rows({1, 0, 1, 0, 1, 0, 1, 0, 0, 1}, 5), torch::ones({5, 2}));
  ExpectClose(jdsh.Fitted(5), {-1, 1, 2.0 / 3, 5.0 / 3, 2.0 / 3, 1.0 / 3});
}

// Ten blocks of 2: a batch of 2 sees one pair, a batch of 20 all 190.
TEST(Jdsh, FitSeesBatchesOfTrainingsSize) {
  Random random(3);
  const torch::Tensor image = RandomUniform({20, 3}, 0, 1, random);
  const torch::Tensor text = RandomUniform({20, 3}, 0, 1, random);
  const torch::Tensor one = Jdsh("", image, text).Fitted(2), all = Jdsh("", image, text).Fitted(20);
  EXPECT_FALSE(torch::allclose(one, all));
  EXPECT_TRUE(torch::equal(Jdsh("", image, text).Fitted(20), all));
}

TEST(Jdsh, TinyAndUniformSilosAreFitted) {
  for (int64_t n : {1, 2, 3, 7}) {
    for (double value : {0.0, 1.0}) {
      Jdsh jdsh("", torch::full({n, 2}, value), torch::full({n, 3}, value));
      for (const Step& step : jdsh.Plan(4)) {
        Seen seen;
        jdsh.learner->Loss(step, seen).backward();
        EXPECT_TRUE(torch::isfinite(seen.image.code).all().item<bool>());
      }
      EXPECT_EQ(FirstNotFinite(jdsh.learner->State()), "");
      EXPECT_TRUE(torch::isfinite(jdsh.Target()).all().item<bool>());
      EXPECT_EQ(jdsh.learner->State().count("distribution"), n > 1 ? 1u : 0u);
    }
  }
  ExpectClose(Jdsh(kImagesOnly, AtCosine(0.6), torch::ones({2, 2})).Fitted(4),
              {0.2, 0.2, 0.2, 0, 0.2, 0});
}

TEST(Jdsh, AResumedSiloKeepsItsFit) {
  Jdsh first("", torch::eye(3), torch::eye(3)), second("", torch::eye(3), torch::eye(3));
  first.Plan(4);
  TensorMap state = first.learner->State();
  state["distribution"] = torch::tensor({-0.9, 0.9, 0.1, 0.2, 0.1, 0.3}, torch::kDouble);
  second.learner->SetState(state);
  ExpectClose(second.Fitted(4), {-0.9, 0.9, 0.1, 0.2, 0.1, 0.3});
  // Stopped before the first epoch there was none yet.
  second.learner->SetState(Jdsh("", torch::eye(3), torch::eye(3)).learner->State());
  EXPECT_TRUE(torch::equal(second.Fitted(4), first.learner->State().at("distribution")));
  EXPECT_EQ(Jdsh("dsdw = 'fixed'\n", torch::eye(3), torch::eye(3)).learner->State().size(), 1u);
}

TEST(Jdsh, DropoutIsForTrainingOnImagesOnly) {
  Jdsh jdsh("dropout = 0.5\n", torch::ones({8, 50}), torch::ones({8, 50}));
  const std::vector<Step> steps = jdsh.Plan(8);
  Seen seen, again;
  jdsh.learner->Loss(steps[0], seen);
  const torch::Tensor x = seen.image.input;
  EXPECT_TRUE(((x == 0) | (x == 2)).all().item<bool>());
  EXPECT_NEAR(x.mean().item<double>(), 1, 0.2);
  EXPECT_TRUE(torch::equal(seen.text.input, torch::ones({8, 50})));
  jdsh.learner->Loss(steps[0], again);
  EXPECT_FALSE(torch::equal(x, again.image.input));
  EXPECT_TRUE(torch::equal(jdsh.silo.all.image, torch::ones({8, 50})));
}

}  // namespace
}  // namespace crossilo

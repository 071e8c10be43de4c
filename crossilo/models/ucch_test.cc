#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/models/hash_model.h"

namespace crossilo {
namespace {

// Features are one-hot and both networks are the same: sample 0 is encoded as
// eight times +1/sqrt(8), sample 1 as four times + and four times -.  So the
// two are orthogonal and a pair's image and text agree exactly.
std::unique_ptr<HashModel> Model(const std::string& extra) {
  auto model = FindModel("ucch").make(
      {2, 2, 0},
      Config::Parse("bits = 8\nlayers_image = 2\nhidden_image = 2\nhidden_text = 2\n" + extra,
                    "test"),
      Random(1));
  torch::NoGradGuard no_grad;
  const torch::Tensor hash = torch::ones({8, 2});
  hash.slice(0, 4, 8).select(1, 1).fill_(-1);
  for (auto& [name, parameter] : model->parameters()) {
    if (name.ends_with("bias")) parameter.zero_();
    if (name.ends_with("hidden1.weight")) parameter.copy_(torch::eye(2));
    if (name.ends_with("hash.weight")) parameter.copy_(hash);
  }
  return model;
}

Silo OneHot(int64_t n) {
  Silo silo;
  silo.all = {torch::eye(2).slice(0, 0, n), torch::eye(2).slice(0, 0, n), torch::Tensor()};
  return silo;
}

const std::vector<Modality> kBoth = {Modality::kImage, Modality::kText};

// A pair's own score is 1, the other's 0 < 1 - margin, so it counts as
// 0 - shift = -1.
const double kRanking = 2 * (std::log(std::exp(1) + std::exp(-1)) - 1 + 0.2);

TEST(Ucch, WarmUpLossWorkedByHand) {
  auto model = Model("warmup = 1\n");
  const Silo silo = OneHot(2);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  learner->PlanEpoch(0, 2, random);
  Seen seen;
  const double loss = learner->Loss({torch::tensor({0, 1}), kBoth}, seen).item<double>();
  // logits <sqrt(8) h_j, h_i> / (0.9 sqrt(8)): 1/0.9 for the own key, else 0
  const double contrast = 2 * (std::log(std::exp(1 / 0.9) + 1) - 1 / 0.9);
  EXPECT_NEAR(loss, 0.9 * contrast + 0.1 * kRanking, 1e-5);
}

// Whether an epoch with that number warms up: then the contrast is within the
// batch, below log 2 a side; with the bank's it is about log(4097).
bool Warms(Learner& learner, int epoch) {
  Random random(1);
  learner.PlanEpoch(epoch, 2, random);
  Seen seen;
  return learner.Loss({torch::tensor({0, 1}), kBoth}, seen).item<double>() < 3;
}

// As the authors count epochs: from 0 in every phase of a round.
TEST(Ucch, ABankOfTheRoundWarmsUpInEveryPhase) {
  auto model = Model("warmup = 1\n");
  const Silo silo = OneHot(2);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  EXPECT_TRUE(Warms(*learner, 0));
  EXPECT_FALSE(Warms(*learner, 1));
  EXPECT_TRUE(Warms(*learner, 0));
}

TEST(Ucch, AKeptBankWarmsUpOnce) {
  auto model = Model("warmup = 1\nbank = 'kept'\n");
  const Silo silo = OneHot(2);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  EXPECT_TRUE(Warms(*learner, 0));
  learner->BeginRound(random);
  EXPECT_FALSE(Warms(*learner, 0));
  auto resumed = model->Learn(silo, Random(1), Random(0));
  resumed->SetState(learner->State());
  EXPECT_FALSE(Warms(*resumed, 0));
}

// With one sample every draw is that sample: all K + 1 logits are equal.
TEST(Ucch, BankLossOfASingleSampleIsLogOfTheDraws) {
  auto model = Model("warmup = 0\nnegatives = 3\n");
  const Silo silo = OneHot(1);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  ASSERT_EQ(learner->PlanEpoch(0, 2, random).size(), 1u);
  Seen seen;
  const double loss = learner->Loss({torch::tensor({0}), kBoth}, seen).item<double>();
  const double ranking = 2 * 0.2;  // log(e^1) - 1 + margin, both ways
  EXPECT_NEAR(loss, 0.9 * 2 * std::log(4) + 0.1 * ranking, 1e-5);
}

// The same loss from gathered keys, as the authors write it: draws are the
// same stream, so a fresh copy of it tells which were taken.
TEST(Ucch, BankLossEqualsGatheredKeys) {
  auto model = Model("warmup = 0\nnegatives = 5\nbeta = 1\n");
  const Silo silo = OneHot(2);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  learner->PlanEpoch(0, 2, random);
  Seen seen;
  const double loss = learner->Loss({torch::tensor({1, 0}), kBoth}, seen).item<double>();

  Random again(1);
  for (int i = 0; i < 2 * 8; ++i) again.Normal();  // the bank's noise
  Random draws(again.Bits());
  const torch::Tensor keys = learner->State().at("V").sign();
  double expected = 0;
  for (int i = 0; i < 2; ++i) {
    const int own = 1 - i;
    double sum = 0, first = 0;
    for (int j = 0; j < 6; ++j) {
      int64_t row = static_cast<int64_t>(draws.Below(2));
      if (j == 0) row = own;
      const double logit = seen.image.code[i].dot(keys[row]).item<double>() / (0.9 * std::sqrt(8));
      if (j == 0) first = logit;
      sum += std::exp(logit);
    }
    expected += (std::log(sum) - first) / 2;
  }
  EXPECT_NEAR(loss, 2 * expected, 1e-5);  // image and text alike
}

TEST(Ucch, MemoryMovesByMomentum) {
  auto model = Model("warmup = 0\nnegatives = 1\n");
  const Silo silo = OneHot(2);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  learner->PlanEpoch(0, 2, random);
  const double s = 1 / std::sqrt(8.0);
  torch::Tensor V = torch::full({2, 8}, s);
  V.slice(1, 4, 8).fill_(-s);  // both rows orthogonal to h_0
  TensorMap state = learner->State();
  state["V"] = V.clone();
  learner->SetState(state);
  const Step step{torch::tensor({0}), kBoth};
  Seen seen;
  learner->Loss(step, seen);
  learner->AfterStep(step);
  // 0.4 V + 0.6 h has length sqrt(0.16 + 0.36)
  const double first = (0.4 * s + 0.6 * s) / std::sqrt(0.52);
  const double last = (-0.4 * s + 0.6 * s) / std::sqrt(0.52);
  const torch::Tensor moved = learner->State().at("V");
  EXPECT_NEAR(moved[0][0].item<double>(), first, 1e-6);
  EXPECT_NEAR(moved[0][7].item<double>(), last, 1e-6);
  EXPECT_TRUE(torch::equal(moved[1], V[1]));  // not in the batch
}

TEST(Ucch, CodesHaveLengthOne) {
  auto model = Model("");
  const torch::Tensor code = model->Encode(Modality::kImage, torch::rand({5, 2}) + 0.1).code;
  EXPECT_TRUE(torch::allclose(code.norm(2, 1), torch::ones({5})));
}

}  // namespace
}  // namespace crossilo

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <filesystem>

#include "crossilo/base/error.h"
#include "crossilo/methods/nt_xent.h"
#include "crossilo/methods/one_silo_test.h"
#include "crossilo/methods/relational.h"
#include "crossilo/models/bundle.h"
#include "crossilo/models/head.h"

namespace crossilo {
namespace {

const TrainingOptions kWhole{.local_epochs = 1, .batch = 20};  // an epoch is one batch

std::vector<std::string> Bases() {
  std::vector<std::string> bases = {"toy1", "toy3"};
  for (const ModelKind& kind : AllModels()) bases.push_back(kind.name);
  return bases;
}

TensorMap Heads(const TensorMap& weights, bool heads) {
  TensorMap some;
  for (const auto& [name, w] : weights) {
    if ((name.find(".predict") != std::string::npos) == heads) some[name] = w;
  }
  return some;
}

// a_i = b_i = e_i: a row's pair is at cosine 1, the 2m - 2 others at 0:
// NT = log(e^(1/t) + 2m - 2) - 1/t.  With a_i = -b_i the pair is at -1.
TEST(NtXent, OfOrthonormalRowsHasAClosedForm) {
  const torch::Tensor e = torch::eye(3, torch::kDouble);
  for (double t : {0.1, 1.0}) {
    EXPECT_NEAR(NtXent(2 * e, 5 * e, t).item<double>(), std::log(std::exp(1 / t) + 4) - 1 / t,
                1e-12);
    EXPECT_NEAR(NtXent(e, -e, t).item<double>(), std::log(std::exp(-1 / t) + 4) + 1 / t, 1e-12);
  }
}

// Two pairs in the plane, t = 1: a_1 = b_1 = (1, 0), a_2 = (0, 1), b_2 = (-1, 0).
// Others of a_1 and b_1: 1 (own pair), 0, -1: log(e + 1 + 1/e) - 1 = .40761
// Others of a_2: 0, 0, 0 (own pair):           log 3            = 1.09861
// Others of b_2: -1, -1, 0 (own pair):         log(1 + 2/e)      = .55145
TEST(NtXent, WorkedByHand) {
  const torch::Tensor a = torch::tensor({{1.f, 0.f}, {0.f, 1.f}});
  const torch::Tensor b = torch::tensor({{1.f, 0.f}, {-1.f, 0.f}});
  const double by_hand = (2 * 0.40761 + 1.09861 + 0.55145) / 4;
  EXPECT_NEAR(NtXent(a, b, 1).item<double>(), by_hand, 1e-5);
  EXPECT_NEAR(NtXent(b, a, 1).item<double>(), by_hand, 1e-5);
}

TEST(NtXent, OnePairHasNothingToBeToldFrom) {
  Random random(1);
  const torch::Tensor a = RandomNormal({1, 4}, random).set_requires_grad(true);
  const torch::Tensor loss = NtXent(a, RandomNormal({1, 4}, random), 0.1);
  EXPECT_NEAR(loss.item<double>(), 0, 1e-5);
  EXPECT_LT(torch::autograd::grad({loss}, {a})[0].abs().max().item<double>(), 1e-5);
  EXPECT_EQ(NtXent(torch::zeros({0, 4}), torch::zeros({0, 4}), 0.1).item<double>(), 0);
  const torch::Tensor zeros = torch::zeros({2, 4}).set_requires_grad(true);
  const torch::Tensor gradient = torch::autograd::grad({NtXent(zeros, zeros, 0.1)}, {zeros})[0];
  EXPECT_TRUE(gradient.isfinite().all().item<bool>());
}

// As many anchors as samples are all samples, in an order that does not matter.
// Nothing moves, so that u = U in every step: UCCH's one, and DCMH's two, which
// train one network each.
TEST(FedX, TheLossIsTheSumOfItsTerms) {
  const std::string keys = "anchors = 20\nw1 = 2.0\nw2 = 3.0\nt = 0.3\nt2 = 0.5\n";
  TrainingOptions still = kWhole;
  still.optimizer.learning_rate = 0;
  for (const char* base : {"ucch", "dcmh"}) {
    for (bool local_only : {false, true}) {
      const std::string more = keys + (local_only ? "local_only = true\n" : "");
      OneSilo x("fedx", more + "loss = 'replace'\n", base, still);
      const torch::Tensor u_I = UnitRows(x.Encode(Modality::kImage, x.initial).code);
      const torch::Tensor u_T = UnitRows(x.Encode(Modality::kText, x.initial).code);
      const torch::Tensor q_I = Predict(*x.model, Modality::kImage, u_I);
      const torch::Tensor q_T = Predict(*x.model, Modality::kText, u_T);
      const torch::Tensor u_r = 0.5 * (u_I + u_T);
      torch::Tensor sum = 2 * NtXent(u_I, u_T, 0.3) + 3 * RelationalLoss(u_I, u_T, u_r, 0.3, 0.5);
      if (!local_only) {
        sum = sum + NtXent(q_I, u_T, 0.3) + NtXent(q_T, u_I, 0.3) +
              3 * RelationalLoss(q_I, q_T, u_r, 0.3, 0.5);
      }
      EXPECT_NEAR(x.Round(1, x.initial).loss, sum.item<double>(), 1e-4) << base << local_only;
      OneSilo added("fedx", more, base, still), avg("fedavg", "", base, still);
      const double base_loss = avg.Round(1, avg.initial).loss;
      EXPECT_NEAR(added.Round(1, added.initial).loss - base_loss, sum.item<double>(), 1e-4);
    }
  }
}

TEST(FedX, WithoutItsTermsIsFedAvgToTheBitAndLeavesTheHeads) {
  for (const std::string& base : Bases()) {
    OneSilo x("fedx", "w1 = 0.0\nw2 = 0.0\n", base), avg("fedavg", "", base);
    for (int round = 1; round <= 2; ++round) {
      const TensorMap sent = x.Round(round, x.initial).sums;
      EXPECT_EQ(LargestOf(Heads(sent, false) - avg.Round(round, avg.initial).sums), 0) << base;
      EXPECT_EQ(LargestOf(Heads(sent, true) - Heads(x.initial, true)), 0) << base;
    }
  }
}

// Received weights stay as they are; heads move with the global model's terms
// only, and all eight of their tensors do.
TEST(FedX, OnlyTheLocalNetworkIsTrained) {
  OneSilo x("fedx", "", "ucch"), local("fedx", "local_only = true\n", "ucch");
  const TensorMap sent = Copy(x.initial);
  const TensorMap moved = Heads(x.Round(1, x.initial).sums - x.initial, true);
  EXPECT_EQ(moved.size(), 8u);
  for (const auto& [name, change] : moved) EXPECT_GT(LargestOf({{name, change}}), 0) << name;
  EXPECT_EQ(LargestOf(x.initial - sent), 0);
  EXPECT_EQ(LargestOf(Heads(local.Round(1, local.initial).sums - local.initial, true)), 0);
}

TEST(FedX, EveryOptionMatters) {
  const auto trained = [](const std::string& keys) {
    OneSilo x("fedx", keys, "ucch");
    return Heads(x.Round(1, x.initial).sums, false);
  };
  const TensorMap usual = trained("");
  for (const char* keys : {"w1 = 0.0\n", "w2 = 0.0\n", "t = 0.3\n", "t2 = 0.3\n", "anchors = 3\n",
                           "local_only = true\n", "loss = 'replace'\n", "head_width = 3\n"}) {
    EXPECT_GT(LargestOf(trained(keys) - usual), 1e-7) << keys;
  }
}

TEST(FedX, OneSampleStaysFiniteOnEveryBaseAndAResumedRoundIsTheSame) {
  for (const std::string& base : Bases()) {
    for (int64_t n : {1, 7}) {
      OneSilo a("fedx", "", base, OneSilo::Usual(), n), b("fedx", "", base, OneSilo::Usual(), n);
      a.Round(1, a.initial);
      b.client->SetState(a.client->State());
      const TensorMap sent = a.Round(2, a.initial).sums;
      EXPECT_EQ(FirstNotFinite(sent), "") << base;
      EXPECT_EQ(LargestOf(b.Round(2, b.initial).sums - sent), 0) << base;
    }
  }
}

// Codes do not pass through the head.
TEST(FedX, ABundleComesBackWithItsHead) {
  OneSilo x("fedx", "head_width = 5\n", "dcmh");
  EXPECT_EQ(x.initial.at("text.predict1.weight").sizes(), (std::vector<int64_t>{5, 16}));
  EXPECT_EQ(x.initial.at("text.predict2.weight").sizes(), (std::vector<int64_t>{16, 5}));
  const auto path = std::filesystem::path(testing::TempDir()) / "fedx_test.safetensors";
  WriteBundle(path, {.base = "dcmh",
                     .model_table = "[model]\nbits = 16\nhidden_image = 4\nhidden_text = 4\n",
                     .shape = x.model->shape(),
                     .weights = x.initial,
                     .head = x.model->head()->Description()});
  const auto again = MakeModel(ReadBundle(path));
  EXPECT_EQ(LargestOf(Weights(*again) - x.initial), 0);
  const Encoded e = again->Encode(Modality::kText, x.silo.all.text);
  EXPECT_TRUE(torch::equal(e.code, x.Encode(Modality::kText, x.initial).code));
  EXPECT_TRUE(torch::equal(e.code, e.output));
  for (const char* bad : {"prediction 0", "prediction x", "prediction 5 ", "prediction 9999999"}) {
    EXPECT_THROW(MakeHead(bad, *x.model), Error) << bad;
  }
}

}  // namespace
}  // namespace crossilo

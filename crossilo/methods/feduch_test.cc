#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/methods/code_distillation.h"
#include "crossilo/methods/drawn_silo.h"
#include "crossilo/methods/one_silo_test.h"

namespace crossilo {
namespace {

constexpr char kOff[] = "cr = false\nkd = false\n";
constexpr char kNothing[] = "mu = 0.0\nphi = 0.0\n";
const TrainingOptions kWhole{.local_epochs = 1, .batch = 20};  // an epoch is one batch

// Teacher (T ln 3, 0): softmax (3/4, 1/4).  Student (0, 0): (1/2, 1/2).
// KL = 3/4 ln(3/2) + 1/4 ln(1/2) = .304099 - .173287 = .130812, and T^2 = 9/4
// makes it .294327.  A second row that agrees halves the mean.
TEST(SoftmaxDistillation, WorkedByHand) {
  const double T = 1.5;
  const torch::Tensor g = torch::tensor({{T * std::log(3.0), 0.0}}), h = torch::zeros({1, 2});
  EXPECT_NEAR(SoftmaxDistillation(h, g, T).item<double>(), 0.294327, 1e-5);
  EXPECT_NEAR(SoftmaxDistillation(torch::cat({h, g}), torch::cat({g, g}), T).item<double>(),
              0.294327 / 2, 1e-5);
}

// p = (1 + 1/2) / 2 = 3/4, q = 1/2: the same .130812, for each of two bits.
TEST(BernoulliDistillation, WorkedByHand) {
  const torch::Tensor g = torch::full({1, 2}, 0.5), h = torch::zeros({1, 2});
  EXPECT_NEAR(BernoulliDistillation(h, g).item<double>(), 2 * 0.130812, 1e-5);
}

TEST(Distillation, OfEqualCodesIsZeroWithoutGradient) {
  Random random(1);
  const torch::Tensor g = torch::tanh(RandomNormal({4, 8}, random)).to(torch::kDouble);
  for (bool softmax : {true, false}) {
    const torch::Tensor h = g.clone().set_requires_grad(true);
    const torch::Tensor loss =
        softmax ? SoftmaxDistillation(h, g, 1.5) : BernoulliDistillation(h, g);
    EXPECT_NEAR(loss.item<double>(), 0, 1e-12);
    EXPECT_LT(torch::autograd::grad({loss}, {h})[0].abs().max().item<double>(), 1e-12);
  }
}

TEST(Distillation, SaturatedCodesAndNoRowsStayFinite) {
  const torch::Tensor g = torch::tensor({{1.f, -1.f, 40.f}});
  const torch::Tensor h = torch::tensor({{-1.f, 1.f, -40.f}}).set_requires_grad(true);
  for (bool softmax : {true, false}) {
    const torch::Tensor loss =
        softmax ? SoftmaxDistillation(h, g, 1.5) : BernoulliDistillation(h, g);
    EXPECT_TRUE(std::isfinite(loss.item<double>()));
    EXPECT_TRUE(torch::autograd::grad({loss}, {h})[0].isfinite().all().item<bool>());
  }
  const torch::Tensor none = torch::zeros({0, 3});
  EXPECT_EQ(SoftmaxDistillation(none, none, 1.5).item<double>(), 0);
  EXPECT_EQ(BernoulliDistillation(none, none).item<double>(), 0);
}

// x = (1, 0, 0), y = (0, 1, 0); the received hidden layers pass them on, so
// Z^V = Z_G^V = (1, 0, 0) and Z^T = Z_G^T = (0, 1, 0).  The previous text layer
// turned y into (1, 0, 0), the previous image layer passed x on:
//   J_V = -log(e^0 / (e^0 + e^(1/tau))) = log(1 + e^2) with tau = 1/2
//   J_T = -log(e^0 / (e^0 + e^0)) = log 2
TEST(FedUch, TheContrastOfOneSampleByHand) {
  OneSilo uch("feduch", "reg_step = 'joint'\nkd = false\nmu = 3.0\ntau = 0.5\n", "toy1", kWhole, 1);
  OneSilo avg("fedavg", "", "toy1", kWhole, 1);
  for (OneSilo* one : {&uch, &avg}) {
    one->silo.all.image.copy_(torch::tensor({{1.f, 0.f, 0.f}}));
    one->silo.all.text.copy_(torch::tensor({{0.f, 1.f, 0.f}}));
  }
  TensorMap global = Copy(uch.initial);
  for (const char* net : {"image.hidden", "text.hidden"}) {
    global[std::string(net) + ".weight"] = torch::eye(3);
    global[std::string(net) + ".bias"] = torch::zeros({3});
  }
  TensorMap previous = Copy(global), state = uch.client->State();
  previous["text.hidden.weight"] =
      torch::tensor({{0.f, 1.f, 0.f}, {0.f, 0.f, 0.f}, {0.f, 0.f, 0.f}});
  state.merge(Prefixed("previous/", previous));
  uch.client->SetState(state);
  const double gained = uch.Round(2, global).loss - avg.Round(2, global).loss;
  EXPECT_NEAR(gained, 3 * (std::log1p(std::exp(2.0)) + std::log(2.0)), 1e-4);
}

// In the first epoch local = global and KD is zero without a gradient; in the
// second the codes are those of FedAvg's weights after one epoch.
TEST(FedUch, TheTeacherIsTheModelReceived) {
  const std::string keys = "reg_step = 'joint'\ncr = false\nphi = 2.0\nkd_temperature = 0.5\n";
  TrainingOptions two = kWhole;
  two.local_epochs = 2;
  OneSilo one("feduch", keys, "toy1", kWhole), avg("fedavg", "", "toy1", kWhole);
  const TensorMap w_1 = avg.Round(1, avg.initial).sums;
  EXPECT_LT(LargestOf(one.Round(1, one.initial).sums - w_1), 1e-6);
  OneSilo uch("feduch", keys, "toy1", two), avg2("fedavg", "", "toy1", two);
  double J_KD = 0;
  for (Modality m : kModalities) {
    J_KD += SoftmaxDistillation(avg.Encode(m, w_1).code, avg.Encode(m, avg.initial).code, 0.5)
                .item<double>();
  }
  EXPECT_GT(J_KD, 1e-6);
  const double gained = uch.Round(1, uch.initial).loss - avg2.Round(1, avg2.initial).loss;
  EXPECT_NEAR(gained, 2 * J_KD, 1e-6 + 0.01 * J_KD);
}

TEST(FedUch, WithoutBothTermsIsFedAvgToTheBit) {
  std::vector<std::string> bases = {"toy1", "toy3"};
  for (const ModelKind& kind : AllModels()) bases.push_back(kind.name);
  for (const std::string& base : bases) {
    OneSilo uch("feduch", kOff, base), avg("fedavg", "", base);
    for (int round = 1; round <= 2; ++round) {
      const TensorMap a = uch.Round(round, uch.initial).sums;
      EXPECT_EQ(LargestOf(a - avg.Round(round, avg.initial).sums), 0) << base;
    }
    EXPECT_TRUE(Under("previous/", uch.client->State()).empty());
  }
}

// FedAvg's step is w_1 = w_0 - a m_1.  The extra one has no gradient of its own:
// m_2 = momentum m_1 + decay w_1, w_2 = w_1 - a m_2.
TEST(FedUch, ZeroWeightsTakeStepsOfMomentumAndDecayOnly) {
  TrainingOptions training = kWhole;
  training.optimizer = {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.02};
  for (const char* base : {"toy1", "ucch"}) {
    OneSilo uch("feduch", kNothing, base, training), avg("fedavg", "", base, training);
    const TensorMap w_0 = avg.initial, w_1 = avg.Round(1, w_0).sums;
    const TensorMap m_1 = 10 * (w_0 - w_1), m_2 = 0.9 * m_1 + 0.02 * w_1;
    EXPECT_LT(LargestOf(uch.Round(1, w_0).sums - (w_1 - 0.1 * m_2)), 1e-5) << base;
    EXPECT_GT(LargestOf(0.1 * m_2), 1e-3);
  }
  // Nothing is left to move weights.
  OneSilo still("feduch", kNothing, "toy3"), avg("fedavg", "", "toy3");
  EXPECT_EQ(LargestOf(still.Round(1, still.initial).sums - avg.Round(1, avg.initial).sums), 0);
}

// The silo is sent its own last weights: Z_prev = Z_G, log 2 without a gradient.
TEST(FedUch, WhenThePreviousModelIsTheGlobalOneNothingIsPushed) {
  const std::string cr = "kd = false\nmu = 5.0\n";
  for (const std::string released : {"", "prev_model = 'global-as-released'\n"}) {
    OneSilo uch("feduch", cr + released, "toy3"), avg("fedavg", "", "toy3");
    TensorMap w = uch.Round(1, uch.initial).sums;
    EXPECT_LT(LargestOf(w - avg.Round(1, avg.initial).sums), 1e-5);
    if (!released.empty()) w = uch.initial;  // any other
    EXPECT_LT(LargestOf(uch.Round(2, w).sums - avg.Round(2, w).sums), 1e-5);
  }
  OneSilo uch("feduch", cr, "toy3"), avg("fedavg", "", "toy3");
  uch.Round(1, uch.initial);
  avg.Round(1, avg.initial);
  EXPECT_GT(LargestOf(uch.Round(2, uch.initial).sums - avg.Round(2, avg.initial).sums), 1e-3);
}

TEST(FedUch, ThePreviousModelIsTheSilosOwnOfItsLastRound) {
  OneSilo uch("feduch", "", "ucch");
  const TensorMap sent = Copy(uch.initial);
  for (int round : {1, 4}) {  // it was not chosen for rounds 2 and 3
    const TensorMap own = Copy(uch.Round(round, uch.initial).sums);
    uch.client->Receive(uch.initial);  // nor does what comes next replace it
    EXPECT_EQ(LargestOf(Under("previous/", uch.client->State()) - own), 0);
    EXPECT_GT(LargestOf(own - sent), 0);
  }
  EXPECT_EQ(LargestOf(uch.initial - sent), 0);
}

TEST(FedUch, AResumedRoundIsTheSameToTheBit) {
  for (const char* base : {"toy3", "ucch", "dcmh"}) {
    for (const char* keys : {"", "reg_step = 'joint'\n", "teacher = 'train'\n",
                             "train_sampling = 'bootstrap'\nkd_form = 'bernoulli'\n"}) {
      OneSilo a("feduch", keys, base), b("feduch", keys, base);
      a.Round(1, a.initial);
      a.Round(2, a.initial);
      b.client->SetState(a.client->State());
      const TensorMap resumed = b.Round(3, b.initial).sums;
      EXPECT_EQ(LargestOf(a.Round(3, a.initial).sums - resumed), 0) << base << " " << keys;
    }
  }
}

// Every reading trains to something else; of them only the base's dropout
// makes the teacher's mode one.
TEST(FedUch, EveryOptionMatters) {
  const auto trained = [](const std::string& keys) {
    OneSilo uch("feduch", keys, "toy3");
    uch.Round(1, uch.initial);
    return uch.Round(2, uch.initial).sums;
  };
  const TensorMap usual = trained("");
  for (const char* keys :
       {"cr = false\n", "kd = false\n", "mu = 0.1\n", "phi = 0.9\n", "tau = 0.2\n",
        "reg_step = 'joint'\n", "kd_form = 'bernoulli'\n", "kd_temperature = 0.3\n",
        "teacher = 'train'\n", "prev_model = 'global-as-released'\n",
        "train_sampling = 'bootstrap'\n"}) {
    EXPECT_GT(LargestOf(trained(keys) - usual), 1e-7) << keys;
  }
}

TEST(FedUch, WidthsThatCannotBeComparedAreRefused) {
  Silo silo;
  silo.all = {torch::ones({2, 3}), torch::ones({2, 3}), torch::eye(2)};
  const auto model = FindModel("ucch").make(
      {3, 3, 2}, Config::Parse("hidden_image = 4\nhidden_text = 6\n", "test"), Random(2));
  const auto make = [&](const char* keys) {
    FindMethod("feduch").make_client({silo, *model, kWhole, 9}, Config::Parse(keys, "test"));
  };
  try {
    make("");
    FAIL() << "4 and 6 were compared";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("model.hidden_image"));
  }
  make("cr = false\n");
}

TEST(FedUch, OneSampleStaysFiniteOnEveryBase) {
  for (const ModelKind& kind : AllModels()) {
    for (const char* keys : {"", "reg_step = 'joint'\nkd_form = 'bernoulli'\n",
                             "teacher = 'train'\ntrain_sampling = 'bootstrap'\n"}) {
      OneSilo uch("feduch", keys, kind.name, OneSilo::Usual(), 1);
      uch.Round(1, uch.initial);
      const Update update = uch.Round(2, uch.initial);
      EXPECT_EQ(FirstNotFinite(update.sums), "") << kind.name;
      EXPECT_EQ(update.weight, 1);
    }
  }
}

// Of n draws with replacement about 1 - 1/e are distinct: 632 of 1000, with a
// deviation below 10.
TEST(DrawnSilo, DrawsNOfNOnceAndAStageSeesTheSilosOwnRows) {
  Silo silo{.id = 4};
  silo.all = {torch::arange(1000).unsqueeze(1).to(torch::kFloat), torch::zeros({1000, 1})};
  const DrawnSilo drawn(silo, true, 7), again(silo, true, 7), all(silo, false, 7);
  EXPECT_EQ(drawn.silo.id, 4);
  EXPECT_TRUE(torch::equal(drawn.rows, again.rows));
  EXPECT_EQ(drawn.silo.size(), 1000);
  EXPECT_NEAR(std::get<0>(torch::_unique(drawn.rows)).size(0), 632, 50);
  EXPECT_TRUE(torch::equal(drawn.silo.all.image, silo.all.image.index_select(0, drawn.rows)));
  EXPECT_TRUE(torch::equal(all.silo.all.image, silo.all.image));
  ToyModel model(1, 1);
  torch::Tensor seen_rows;
  const ClientSetup setup =
      drawn.SetupLike({silo, model, {}, 7, 2, [&](const Step& s, const Seen&) {
                         seen_rows = s.rows;
                         return std::vector<LossTerm>{};
                       }});
  setup.stage_loss({torch::tensor({5, 9}), {}}, {});
  EXPECT_TRUE(torch::equal(seen_rows, drawn.rows.index_select(0, torch::tensor({5, 9}))));
}

}  // namespace
}  // namespace crossilo

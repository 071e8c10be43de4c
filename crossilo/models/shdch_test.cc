#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// `coarse` > 0: two levels.
std::unique_ptr<HashModel> Model(const std::string& table, int64_t dims, int64_t coarse = 0) {
  return FindModel("shdch").make(
      {dims, dims, 2, coarse},
      Config::Parse("bits = 8\nhidden_image = 16\nhidden_text = 16\n" + table, "test"), Random(1));
}

// The image network maps 1 to tanh(atanh(0.5)) = 0.5 in each of eight bits.
void MapOneToHalf(HashModel& model) {
  torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : model.parameters()) parameter.zero_();
  model.parameters().at("image.hidden.weight").select(0, 0).fill_(1);
  model.parameters().at("image.hash.weight").select(1, 0).fill_(std::atanh(0.5));
}

const torch::Tensor kOnes = torch::ones({1, 8});
const torch::Tensor kMixed = torch::tensor({{1.f, -1.f, 1.f, -1.f, 1.f, -1.f, 1.f, -1.f}});

TEST(Shdch, LossOfOneLevelWorkedByHand) {
  auto model = Model("", 1);
  MapOneToHalf(*model);
  Silo silo;
  silo.all = {torch::ones({2, 1}), torch::ones({2, 1}), torch::eye(2), {}};
  auto learner = model->Learn(silo, Random(2), Random(0));
  TensorMap state = learner->State();
  state["Y"] = torch::cat({kOnes, kMixed});
  state["B"] = torch::cat({-kOnes, kOnes});
  learner->SetState(state);
  Seen seen;
  const double loss = learner->Loss({torch::tensor({0}), {Modality::kImage}}, seen).item<double>();
  // f = 0.5: f Y^T = (4, 0), wanted (8, 0); (-1 - 0.5)^2 in eight bits
  EXPECT_NEAR(loss, (0.5 * 16 + 1 * 8 * 2.25) / (2 * 1), 1e-4);
  EXPECT_TRUE(torch::allclose(learner->State().at("F")[0], 0.5 * kOnes[0]));
  EXPECT_TRUE(torch::equal(learner->State().at("F")[1], state.at("F")[1]));
  EXPECT_TRUE(torch::equal(learner->State().at("G"), state.at("G")));
  EXPECT_TRUE(torch::allclose(seen.image.raw, torch::atanh(seen.image.output)));
}

TEST(Shdch, DividedByTheBatchAloneTheLossIsNTimesAsLarge) {
  Silo silo;
  silo.all = {torch::ones({5, 1}), torch::ones({5, 1}), torch::ones({5, 1}), {}};
  double loss[2];
  int i = 0;
  for (const char* table : {"", "divide = 'batch'\n"}) {
    auto model = Model(table, 1);
    Seen seen;
    auto learner = model->Learn(silo, Random(2), Random(0));
    loss[i++] = learner->Loss({torch::tensor({0, 3}), {Modality::kText}}, seen).item<double>();
  }
  EXPECT_NEAR(loss[1], 5 * loss[0], 1e-3);
}

TEST(Shdch, LossOfTwoLevelsWorkedByHand) {
  auto model = Model("", 1, 2);
  MapOneToHalf(*model);
  Silo silo;  // sample 0: coarse 0, fine 1; sample 1: coarse 1, fine 0
  silo.all = {torch::ones({2, 1}), torch::ones({2, 1}), torch::eye(2).flip(0), torch::eye(2)};
  auto learner = model->Learn(silo, Random(2), Random(0));
  TensorMap state = learner->State();
  state["Y1"] = torch::cat({kOnes, -kOnes});
  state["Y2"] = torch::cat({kOnes, kMixed});
  state["B"] = torch::cat({kOnes, kOnes});
  learner->SetState(state);
  Seen seen;
  const double loss =
      learner->Loss({torch::tensor({0, 1}), {Modality::kImage}}, seen).item<double>();
  // f = 0.5: f Y1^T = (4, -4), f Y2^T = (4, 0)
  const double coarse = (16 + 16) + (16 + 144);  // wanted (8, 0), then (0, 8)
  const double fine = (16 + 64) + (16 + 0);      // wanted (0, 8), then (8, 0)
  const double quantization = 2 * 8 * 0.25;
  EXPECT_NEAR(loss, (0.3 * coarse + 0.7 * fine + 1 * quantization) / (2 * 2), 1e-4);
}

// Six samples; fine classes 0, 1, 2 of which the last has none; two coarse.
Silo SmallSilo() {
  Random random(5);
  Silo silo;
  const torch::Tensor fine = torch::tensor({0, 0, 1, 1, 0, 1});
  silo.all = {RandomNormal({6, 4}, random), RandomNormal({6, 4}, random),
              torch::eye(3).index_select(0, fine), torch::eye(2).index_select(0, fine)};
  return silo;
}

TensorMap RandomState(const TensorMap& like, uint64_t seed) {
  Random random(seed);
  TensorMap state;
  for (const auto& [name, value] : like) {
    const torch::Tensor x = RandomNormal(value.sizes(), random);
    state[name] = name == "F" || name == "G" ? torch::tanh(x) : x.sign();
  }
  return state;
}

double Squared(const torch::Tensor& x) {
  return x.to(torch::kDouble).square().sum().item<double>();
}

// J's terms that hold class codes; weights are the defaults.
double J(const Silo& silo, const TensorMap& s) {
  const auto match = [&](const torch::Tensor& L, const torch::Tensor& Y) {
    return Squared(8 * L - s.at("F").mm(Y.t())) + Squared(8 * L - s.at("G").mm(Y.t()));
  };
  if (s.contains("Y")) return 0.5 * match(silo.all.labels, s.at("Y"));
  const torch::Tensor S12 = silo.all.coarse.t().mm(silo.all.labels).clamp_max(1);
  return 0.3 * match(silo.all.coarse, s.at("Y1")) + 0.7 * match(silo.all.labels, s.at("Y2")) +
         100 * Squared(8 * S12 - s.at("Y1").mm(s.at("Y2").t()));
}

// The sweep again, by trying for every bit all 2^c columns.
void BruteForce(const Silo& silo, TensorMap& state, const std::string& name) {
  torch::Tensor& Y = state.at(name);
  for (int64_t k = 0; k < Y.size(1); ++k) {
    torch::Tensor best;
    double lowest = INFINITY;
    for (int64_t choice = 0; choice < (1 << Y.size(0)); ++choice) {
      for (int64_t c = 0; c < Y.size(0); ++c) Y[c][k] = (choice >> c) % 2 == 0 ? 1 : -1;
      if (const double value = J(silo, state); value < lowest) {
        lowest = value;
        best = Y.select(1, k).clone();
      }
    }
    Y.select(1, k).copy_(best);
  }
}

TEST(Shdch, TheSweepPicksTheBestOfAllColumnsForEveryBit) {
  const Silo silo = SmallSilo();
  for (int64_t coarse : {0, 2}) {
    auto model = Model("", 4, coarse);
    auto learner = model->Learn(silo, Random(3), Random(0));
    for (uint64_t seed = 0; seed < 5; ++seed) {
      TensorMap state = RandomState(learner->State(), seed);
      learner->SetState(state);
      learner->EndEpoch();
      const TensorMap after = learner->State();
      EXPECT_LE(J(silo, after), J(silo, state) * (1 + 1e-6));
      for (const std::string name : {"Y", "Y1", "Y2"}) {
        if (!state.contains(name)) continue;
        BruteForce(silo, state, name);
        EXPECT_TRUE(torch::equal(after.at(name), state.at(name))) << name << ", seed " << seed;
      }
    }
  }
}

// n = 1, c = 1, F = G = 0.1: Q_k = 8 (0.1 + 0.1) = 1.6, M_jk = 0.02
TEST(Shdch, SigmoidClassCodesWorkedByHand) {
  auto model = Model("class_codes = 'sigmoid'\n", 1);
  Silo silo;
  silo.all = {torch::ones({1, 1}), torch::ones({1, 1}), torch::ones({1, 1}), {}};
  auto learner = model->Learn(silo, Random(2), Random(0));
  learner->SetState({{"F", 0.1 * kOnes}, {"G", 0.1 * kOnes}, {"B", kOnes}, {"Y", kOnes}});
  learner->EndEpoch();
  const torch::Tensor Y = learner->State().at("Y");
  const double first = 1 / (1 + std::exp(-(1.6 - 0.02 * 7)));
  const double second = 1 / (1 + std::exp(-(1.6 - 0.02 * (first + 6))));
  EXPECT_NEAR(Y[0][0].item<double>(), first, 1e-5);
  EXPECT_NEAR(Y[0][1].item<double>(), second, 1e-5);
}

// With F = G = 0 nothing pulls at a bit.
TEST(Shdch, ATieKeepsTheClassCodeAndBIsNeverZero) {
  auto model = Model("", 4);
  const Silo silo = SmallSilo();
  auto learner = model->Learn(silo, Random(3), Random(0));
  TensorMap state = RandomState(learner->State(), 1);
  state["F"].zero_();
  state["G"].zero_();
  learner->SetState(state);
  learner->EndEpoch();
  EXPECT_TRUE(torch::equal(learner->State().at("Y"), state.at("Y")));
  EXPECT_TRUE(torch::equal(learner->State().at("B"), -torch::ones({6, 8})));
}

TEST(Shdch, BIsTheSignOfBothBuffers) {
  auto model = Model("", 4);
  const Silo silo = SmallSilo();
  auto learner = model->Learn(silo, Random(3), Random(0));
  const TensorMap state = RandomState(learner->State(), 2);
  learner->SetState(state);
  learner->EndEpoch();
  EXPECT_TRUE(torch::equal(learner->State().at("B"), (state.at("F") + state.at("G")).sign()));
}

TEST(Shdch, ACommonStartIsTheSameAtEverySilo) {
  const Silo one = SmallSilo();
  Silo two = SmallSilo();
  two.all = two.all.Select(torch::tensor({2, 3}));  // class 1 only
  const auto start = [](const std::string& key, const Silo& silo, uint64_t own, int64_t coarse) {
    return Model("start = '" + key + "'\n", 4, coarse)
        ->Learn(silo, Random(own), Random(9))
        ->State();
  };
  for (const auto& [coarse, name] : {std::pair{0, "Y"}, {2, "Y1"}, {2, "Y2"}}) {
    const TensorMap a = start("common", one, 1, coarse), b = start("common", two, 2, coarse);
    EXPECT_TRUE(torch::equal(a.at(name), b.at(name)));
    EXPECT_TRUE(torch::equal(a.at("F")[2], b.at("F")[0]));
    EXPECT_TRUE(torch::equal(a.at("F")[2], a.at(coarse == 0 ? "Y" : "Y2")[1]));
    EXPECT_TRUE(torch::equal(a.at("F"), a.at("G")));
    EXPECT_TRUE(torch::equal(a.at("B"), a.at("F")));  // signs already
    const TensorMap c = start("private", one, 1, coarse), d = start("private", two, 2, coarse);
    EXPECT_FALSE(torch::equal(c.at(name), d.at(name)));
    EXPECT_FALSE(torch::equal(c.at("F"), c.at("G")));
  }
}

TEST(Shdch, StateContinuesWhereItWasSaved) {
  const Silo silo = SmallSilo();
  auto model = Model("", 4, 2);
  auto first = model->Learn(silo, Random(3), Random(0));
  first->EndEpoch();
  const TensorMap state = first->State();
  auto second = model->Learn(silo, Random(4), Random(1));
  second->SetState(state);
  Seen seen;
  const Step step{torch::tensor({0, 3}), {Modality::kText}};
  EXPECT_EQ(first->Loss(step, seen).item<double>(), second->Loss(step, seen).item<double>());
  first->EndEpoch();
  second->EndEpoch();
  const TensorMap a = first->State(), b = second->State();
  for (const auto& [name, value] : a) EXPECT_TRUE(torch::equal(value, b.at(name))) << name;
  EXPECT_EQ(a.size(), 5u);
  EXPECT_FALSE(torch::equal(a.at("G"), state.at("G"))) << "a saved state must not go on changing";
}

// One sample; all of one class; fewer samples than a batch; samples without a
// label: every number stays finite and codes stay -1 or 1.
TEST(Shdch, SmallSilosTrain) {
  Silo nothing = SmallSilo();
  nothing.all.labels.zero_();
  nothing.all.coarse.zero_();
  Silo one = SmallSilo(), equal = SmallSilo();
  one.all = one.all.Select(torch::tensor({0}));
  equal.all = equal.all.Select(torch::tensor({0, 1, 4}));
  for (const Silo& silo : {nothing, one, equal, SmallSilo()}) {
    for (int64_t coarse : {0, 2}) {
      auto model = Model("", 4, coarse);
      auto learner = model->Learn(silo, Random(3), Random(0));
      Random random(1);
      const auto steps = learner->PlanEpoch(0, 128, random);
      ASSERT_EQ(steps.size(), 2u);
      EXPECT_EQ(steps[0].rows.size(0), silo.size());
      for (const Step& step : steps) {
        Seen seen;
        const torch::Tensor loss = learner->Loss(step, seen);
        loss.backward();
        EXPECT_TRUE(std::isfinite(loss.item<double>()));
      }
      learner->EndEpoch();
      for (const auto& [name, parameter] : model->parameters()) {
        EXPECT_TRUE(torch::isfinite(parameter.grad()).all().item<bool>()) << name;
      }
      for (const auto& [name, value] : learner->State()) {
        EXPECT_TRUE(torch::isfinite(value).all().item<bool>()) << name;
        if (name == "F" || name == "G") continue;
        EXPECT_TRUE(value.abs().eq(1).all().item<bool>()) << name;
      }
    }
  }
}

// Plain descent on features that tell the class: codes of one class agree
// across modalities, and those of two classes do not.  An epoch is ten passes:
// with two steps between one B and the next, gamma = 10 held both at one code.
TEST(Shdch, LearnsOneCodeForAClass) {
  Silo silo = SmallSilo();
  silo.all.image = torch::cat({silo.all.labels, torch::ones({6, 1})}, 1);
  silo.all.text = 2 * silo.all.image;
  for (const std::string start : {"start = 'common'\n", "start = 'private'\n"}) {
    auto model = Model(start, 4);
    auto learner = model->Learn(silo, Random(3), Random(0));
    Random random(1);
    for (int pass = 1; pass <= 100; ++pass) {
      for (const Step& step : learner->PlanEpoch(0, 4, random)) {
        Seen seen;
        learner->Loss(step, seen).backward();
        torch::NoGradGuard no_grad;
        for (const std::string& name : model->ParametersOf(step.trains)) {
          torch::Tensor& w = model->parameters().at(name);
          w.sub_(w.grad(), 0.03);
          w.mutable_grad().reset();
        }
      }
      if (pass % 10 == 0) learner->EndEpoch();
    }
    const torch::Tensor F = learner->State().at("F").sign(), G = learner->State().at("G").sign();
    EXPECT_TRUE(torch::equal(F, G)) << start;
    EXPECT_TRUE(torch::equal(F[0], F[4])) << start;
    EXPECT_FALSE(torch::equal(F[0], F[2])) << start;
  }
}

TEST(Shdch, AFreshEpochIsFloorNOverBatchStepsAModality) {
  const Silo silo = SmallSilo();
  Random random(1);
  auto fresh = Model("sampling = 'fresh'\n", 4);
  const auto steps = fresh->Learn(silo, Random(3), Random(0))->PlanEpoch(0, 4, random);
  ASSERT_EQ(steps.size(), 2u);  // floor(6 / 4) = 1 for each
  EXPECT_EQ(steps[0].trains[0], Modality::kImage);
  EXPECT_EQ(steps[1].trains[0], Modality::kText);
  auto pass = Model("", 4);
  const auto all = pass->Learn(silo, Random(3), Random(0))->PlanEpoch(0, 4, random);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].rows.size(0), 2);
}

TEST(Shdch, WithoutLabelsItSaysSo) {
  Silo silo = SmallSilo();
  silo.all.coarse = torch::Tensor();
  EXPECT_THROW(Model("", 4, 2)->Learn(silo, Random(1), Random(0)), Error);
  EXPECT_NO_THROW(Model("", 4)->Learn(silo, Random(1), Random(0)));
  silo.all.labels = torch::Tensor();
  EXPECT_THROW(Model("", 4)->Learn(silo, Random(1), Random(0)), Error);
}

}  // namespace
}  // namespace crossilo

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "crossilo/methods/contrast.h"
#include "crossilo/methods/one_silo_test.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

torch::Tensor Doubles(torch::IntArrayRef shape, uint64_t seed) {
  Random random(seed);
  return RandomNormal(shape, random).to(torch::kDouble);
}

// cos(z, g) = 1, cos(z, p) = 0, tau = 1/2: -log(e^2 / (e^2 + e^0)); a second
// previous model at cosine -1 adds e^-2.  Lengths do not matter.
TEST(ModelContrast, WorkedByHand) {
  const torch::Tensor z = torch::tensor({{2.0, 0.0}}), g = torch::tensor({{3.0, 0.0}});
  const torch::Tensor p = torch::tensor({{0.0, 5.0}}), q = torch::tensor({{-1.0, 0.0}});
  EXPECT_NEAR(ModelContrast(z, g, {p}, 0.5).item<double>(), std::log1p(std::exp(-2)), 1e-6);
  EXPECT_NEAR(ModelContrast(z, g, {p, q}, 0.5).item<double>(),
              std::log(1 + std::exp(-2) + std::exp(-4)), 1e-6);
}

TEST(ModelContrast, WithoutPreviousModelsItIsZero) {
  const torch::Tensor z = Doubles({4, 3}, 1).set_requires_grad(true);
  const torch::Tensor loss = ModelContrast(z, Doubles({4, 3}, 2), {}, 0.5);
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_EQ(torch::autograd::grad({loss}, {z})[0].abs().max().item<double>(), 0);
}

TEST(ModelContrast, WhenPreviousIsGlobalItIsLog2WithoutGradient) {
  const torch::Tensor z = Doubles({4, 3}, 1).set_requires_grad(true), g = Doubles({4, 3}, 2);
  const torch::Tensor loss = ModelContrast(z, g, {g.clone()}, 0.5);
  EXPECT_NEAR(loss.item<double>(), std::log(2), 1e-12);
  EXPECT_LT(torch::autograd::grad({loss}, {z})[0].abs().max().item<double>(), 1e-12);
}

TEST(ModelContrast, TheOrderOfTheBatchDoesNotMatter) {
  const torch::Tensor z = Doubles({4, 3}, 1), g = Doubles({4, 3}, 2), p = Doubles({4, 3}, 3);
  const torch::Tensor order = torch::tensor({2, 0, 3, 1});
  const auto mixed = [&](const torch::Tensor& x) { return x.index_select(0, order); };
  const double loss = ModelContrast(z, g, {p}, 0.5).item<double>();
  EXPECT_NEAR(ModelContrast(mixed(z), mixed(g), {mixed(p)}, 0.5).item<double>(), loss, 1e-12);
  EXPECT_GT(std::abs(ModelContrast(mixed(z), g, {p}, 0.5).item<double>() - loss), 1e-3);
}

TEST(ModelContrast, GradientIsTheFiniteDifference) {
  const torch::Tensor z = Doubles({2, 3}, 1).set_requires_grad(true);
  const torch::Tensor g = Doubles({2, 3}, 2), p = Doubles({2, 3}, 3), q = Doubles({2, 3}, 4);
  const auto loss = [&](const torch::Tensor& x) { return ModelContrast(x, g, {p, q}, 0.5); };
  const torch::Tensor gradient = torch::autograd::grad({loss(z)}, {z})[0];
  constexpr double kStep = 1e-6;
  for (int64_t i = 0; i < z.numel(); ++i) {
    torch::Tensor up = z.detach().clone(), down = z.detach().clone();
    up.view(-1)[i] += kStep;
    down.view(-1)[i] -= kStep;
    const double slope = (loss(up) - loss(down)).item<double>() / (2 * kStep);
    EXPECT_NEAR(gradient.view(-1)[i].item<double>(), slope, 1e-7);
  }
}

TEST(ModelContrast, ZeroRowsAndNoRowsStayFinite) {
  const torch::Tensor z = torch::zeros({2, 3}).set_requires_grad(true), g = torch::ones({2, 3});
  const torch::Tensor loss = ModelContrast(z, g, {torch::zeros({2, 3})}, 0.5);
  EXPECT_NEAR(loss.item<double>(), std::log(2), 1e-6);
  EXPECT_EQ(torch::autograd::grad({loss}, {z})[0].abs().max().item<double>(), 0);
  const torch::Tensor none = torch::zeros({0, 3});
  EXPECT_EQ(ModelContrast(none, none, {none}, 0.5).item<double>(), 0);
}

// One silo with a client.
struct Bench {
  Bench(const std::string& method, const std::string& table, TrainingOptions training = Usual(),
        int64_t n = 20, const std::string& base = "dcmh") {
    Random random(1);
    silo.all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random),
                torch::eye(2).repeat({(n + 1) / 2, 1}).slice(0, 0, n)};
    model = FindModel(base).make(
        {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
        Random(2));
    initial = Weights(*model);
    client =
        FindMethod(method).make_client({silo, *model, training, 9}, Config::Parse(table, "test"));
  }
  static TrainingOptions Usual() { return {.local_epochs = 2, .batch = 5}; }
  // A round that starts from the weights `w`.
  Update Round(int round, const TensorMap& w) {
    client->Receive(w);
    return client->Train(round);
  }
  torch::Tensor Hidden(Modality m, const TensorMap& w) {
    const TensorMap now = Weights(*model);
    SetWeights(*model, w);
    const torch::Tensor z =
        model->Encode(m, m == Modality::kImage ? silo.all.image : silo.all.text).hidden.detach();
    SetWeights(*model, now);
    return z;
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
  TensorMap initial;
  std::unique_ptr<Client> client;
};

double Largest(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

TEST(Moon, TheFirstRoundIsFedAvgsAndTheSecondIsNot) {
  Bench moon("moon", ""), avg("fedavg", "");
  EXPECT_EQ(Largest(moon.Round(1, moon.initial).sums - avg.Round(1, avg.initial).sums), 0);
  EXPECT_GT(Largest(moon.Round(2, moon.initial).sums - avg.Round(2, avg.initial).sums), 1e-4);
}

TEST(Moon, WithMuZeroIsFedAvgToTheBit) {
  Bench moon("moon", "mu = 0.0\n"), avg("fedavg", "");
  for (int round = 1; round <= 3; ++round) {
    const TensorMap a = moon.Round(round, moon.initial).sums;
    EXPECT_EQ(Largest(a - avg.Round(round, avg.initial).sums), 0);
  }
  EXPECT_TRUE(Under("previous/", moon.client->State()).empty());
}

// Batches hold the whole silo, so that an epoch is one step of either network,
// both at z = z_glob: the loss, a mean of two, gains
//   mu/2 sum_m mean_i log(1 + e^((cos(g_i, p_i) - 1) / tau)).
TEST(Moon, AStepContrastsItsOwnRows) {
  const TrainingOptions whole{.local_epochs = 1, .batch = 20};
  Bench moon("moon", "mu = 3.0\ntemperature = 0.25\n", whole), avg("fedavg", "", whole);
  const TensorMap previous = moon.Round(1, moon.initial).sums;
  avg.Round(1, avg.initial);
  Random random(8);
  TensorMap global = moon.initial;
  for (auto& [name, w] : global) w = w + 0.5 * RandomNormal(w.sizes(), random);
  double contrast = 0;
  for (Modality m : kModalities) {
    const torch::Tensor g = moon.Hidden(m, global), p = moon.Hidden(m, previous);
    const torch::Tensor cosine = (g * p).sum(1) / (g.norm(2, 1) * p.norm(2, 1)).clamp_min(1e-12);
    const torch::Tensor own = g.norm(2, 1).gt(0).to(torch::kFloat);  // cos(g, g), 0 for g = 0
    contrast += torch::log1p(torch::exp((cosine - own) / 0.25)).mean().item<double>();
  }
  const double gained = moon.Round(2, global).loss - avg.Round(2, global).loss;
  EXPECT_NEAR(gained, 3.0 / 2 * contrast, 1e-4);
}

// The silo is sent its own last weights: z_prev = z_glob.
TEST(Moon, WhenTheGlobalModelIsThePreviousOneNothingIsPushed) {
  Bench moon("moon", "mu = 5.0\n"), avg("fedavg", "");
  const TensorMap w = moon.Round(1, moon.initial).sums;
  avg.Round(1, avg.initial);
  EXPECT_LT(Largest(moon.Round(2, w).sums - avg.Round(2, w).sums), 1e-5);
}

TEST(Moon, ThePoolHoldsTheLastLocalModelsFirstInFirstOut) {
  Bench moon("moon", "previous = 2\n");
  std::vector<TensorMap> local;
  const TensorMap sent = Copy(moon.initial);
  for (int round : {1, 2, 5}) {  // it was not chosen for rounds 3 and 4
    local.push_back(Copy(moon.Round(round, moon.initial).sums));
  }
  const TensorMap state = moon.client->State();
  EXPECT_EQ(Largest(Under("previous/0/", state) - local[1]), 0);
  EXPECT_EQ(Largest(Under("previous/1/", state) - local[2]), 0);
  EXPECT_TRUE(Under("previous/2/", state).empty());
  // Neither the global model nor the previous ones were trained on the way.
  EXPECT_EQ(Largest(moon.initial - sent), 0);
  EXPECT_GT(Largest(local[2] - local[1]), 0);
}

TEST(Moon, AResumedRoundIsTheSameToTheBit) {
  Bench a("moon", "previous = 2\n"), b("moon", "previous = 2\n");
  a.Round(1, a.initial);
  a.Round(2, a.initial);
  b.client->SetState(a.client->State());
  EXPECT_EQ(Largest(a.Round(3, a.initial).sums - b.Round(3, b.initial).sums), 0);
}

// hidden contrasts nothing of the hash layer; code does.
TEST(Moon, TheRepresentationIsAChoice) {
  Bench hidden("moon", ""), code("moon", "representation = 'code'\n");
  hidden.Round(1, hidden.initial);
  code.Round(1, code.initial);
  EXPECT_GT(Largest(hidden.Round(2, hidden.initial).sums - code.Round(2, code.initial).sums), 1e-5);
}

// UCCH trains both networks in one step.
TEST(Moon, StepsOfBothNetworksAndTinySilosStayFinite) {
  for (const char* base : {"dcmh", "ucch"}) {
    Bench moon("moon", "", Bench::Usual(), 1, base);
    moon.Round(1, moon.initial);
    const Update update = moon.Round(2, moon.initial);
    EXPECT_EQ(FirstNotFinite(update.sums), "") << base;
    EXPECT_EQ(update.weight, 1);
  }
}

// Of three steps on a batch the contrast would be in one; of one, in all.
TEST(Moon, TheContrastHasAStepOfItsOwnWhereTheBaseTakesSeveral) {
  const auto trained = [](const char* base, const std::string& keys) {
    OneSilo moon("moon", keys, base);
    moon.Round(1, moon.initial);
    return moon.Round(2, moon.initial).sums;
  };
  for (const char* base : {"toy1", "toy3"}) {
    const bool several = base == std::string("toy3");
    const TensorMap joint = trained(base, "reg_step = 'joint'\nmu = 1.0\n");
    const TensorMap separate = trained(base, "reg_step = 'separate'\nmu = 1.0\n");
    EXPECT_EQ(LargestOf(trained(base, "mu = 1.0\n") - (several ? separate : joint)), 0) << base;
    EXPECT_GT(LargestOf(joint - separate), 1e-6) << base;
    OneSilo avg("fedavg", "", base);
    avg.Round(1, avg.initial);
    const TensorMap plain = avg.Round(2, avg.initial).sums;
    EXPECT_GT(LargestOf(joint - plain), 1e-6);
    EXPECT_EQ(LargestOf(trained(base, "reg_step = 'separate'\nmu = 0.0\n") - plain), 0);
  }
}

// One batch of one step, plain descent: w_1 = FedAvg's, then
// w_2 = w_1 - a mu grad l_con(w_1).
TEST(Moon, TheSeparateStepDescendsTheContrastAlone) {
  const TrainingOptions whole{.local_epochs = 1, .batch = 20};
  OneSilo moon("moon", "reg_step = 'separate'\nmu = 2.0\n", "toy1", whole);
  OneSilo avg("fedavg", "", "toy1", whole);
  const TensorMap previous = moon.Round(1, moon.initial).sums;
  avg.Round(1, avg.initial);
  TensorMap global = Copy(moon.initial);
  Random random(8);
  for (auto& [name, w] : global) w = w + 0.5 * RandomNormal(w.sizes(), random);
  const TensorMap w_1 = avg.Round(2, global).sums;
  const auto contrast = [&](Modality m) {
    const torch::Tensor g = avg.Encode(m, global).hidden, p = avg.Encode(m, previous).hidden;
    const torch::Tensor& x = m == Modality::kImage ? avg.silo.all.image : avg.silo.all.text;
    return 2 * ModelContrast(avg.model->Encode(m, x).hidden, g, {p}, 0.5);
  };
  SetWeights(*avg.model, w_1);
  contrast(Modality::kImage).backward();
  contrast(Modality::kText).backward();
  const TensorMap w_2 = moon.Round(2, global).sums;
  for (const auto& [name, w] : avg.model->parameters()) {
    const torch::Tensor step = w.grad().defined() ? 0.1 * w.grad() : torch::zeros_like(w);
    EXPECT_LT((w_2.at(name) - (w_1.at(name) - step)).abs().max().item<double>(), 1e-5) << name;
  }
  EXPECT_GT(LargestOf(w_2 - w_1), 1e-4);
}

}  // namespace
}  // namespace crossilo

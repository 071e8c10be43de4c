#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

TrainingOptions Sgd(double momentum = 0) {
  TrainingOptions o{.local_epochs = 3, .batch = 5};
  o.optimizer.momentum = momentum;
  return o;
}

// One round of one silo of n samples, from the common initial weights.
Update Round(const std::string& method, int64_t n, uint64_t data, const TrainingOptions& training) {
  Random random(data);
  Silo silo;
  silo.all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random),
              torch::eye(2).repeat({(n + 1) / 2, 1}).slice(0, 0, n)};
  const auto model = FindModel("dcmh").make(
      {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
      Random(2));
  const auto client =
      FindMethod(method).make_client({silo, *model, training, 9}, Config::Parse("", "test"));
  client->Receive(Weights(*model));
  return client->Train(1);
}

TensorMap Initial() {
  return Weights(*FindModel("dcmh").make(
      {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
      Random(2)));
}

// As the hub's combiner does it.
Merged Merge(const std::vector<Update>& updates) {
  Merged merged;
  double total = 0;
  for (const Update& update : updates) total += update.weight;
  merged.mean = ZerosLike(updates.front().sums);
  for (size_t i = 0; i < updates.size(); ++i) {
    merged.mean = merged.mean + (updates[i].weight / total) * updates[i].sums;
    merged.gathered[static_cast<int>(i)] = {};
  }
  return merged;
}

TensorMap Hub(const TensorMap& initial, const std::vector<Update>& updates) {
  const auto hub = FindMethod("fednova").make_server({initial, 2}, Config::Parse("", "test"));
  hub->Merge(Merge(updates));
  return hub->Global();
}

double Largest(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

// Silo 1: one sample, 2 steps, w: 1 -> 0, so d = 1/2.  Silo 2: three samples,
// 8 steps, w: 1 -> 3, so d = -2/8.  tau_eff = 1/4 * 2 + 3/4 * 8 = 6.5;
// mean d = 1/4 * 1/2 - 3/4 * 1/4 = -1/16; w = 1 + 6.5/16.  FedAvg would give
// 1/4 * 0 + 3/4 * 3 = 2.25.
TEST(FedNova, TheHubsRuleWorkedByHand) {
  const auto update = [](double w_k, double a_k, double weight) {
    return Update{
        .sums = {{"d/x", torch::full({1}, (1 - w_k) / a_k)}, {"a/x", torch::full({1}, a_k)}},
        .weight = weight};
  };
  const TensorMap w = Hub({{"x", torch::ones({1})}}, {update(0, 2, 1), update(3, 8, 3)});
  EXPECT_NEAR(w.at("x").item<double>(), 1 + 6.5 / 16, 1e-6);
}

// 20 samples in batches of 5, three epochs: 12 steps of either network; of 7
// samples 6.
TEST(FedNova, ASiloDividesByItsOwnSteps) {
  for (const auto& [n, steps] : {std::pair{20, 12}, std::pair{7, 6}}) {
    const Update nova = Round("fednova", n, 1, Sgd()), avg = Round("fedavg", n, 1, Sgd());
    EXPECT_EQ(nova.weight, n);
    const TensorMap w_t = Initial();
    for (const auto& [name, w_k] : avg.sums) {
      EXPECT_EQ(nova.sums.at("a/" + name).item<double>(), steps) << name;
      EXPECT_TRUE(torch::equal(nova.sums.at("d/" + name), (w_t.at(name) - w_k) / steps)) << name;
    }
  }
}

TEST(FedNova, WithEqualStepsItIsFedAvg) {
  for (double momentum : {0.0, 0.9}) {
    const TensorMap nova = Hub(Initial(), {Round("fednova", 20, 1, Sgd(momentum)),
                                           Round("fednova", 20, 5, Sgd(momentum))});
    const TensorMap avg =
        Merge({Round("fedavg", 20, 1, Sgd(momentum)), Round("fedavg", 20, 5, Sgd(momentum))}).mean;
    EXPECT_GT(Largest(avg - Initial()), 1e-3);
    EXPECT_LT(Largest(nova - avg), 1e-6);
  }
}

TEST(FedNova, WithUnequalStepsItIsNot) {
  const TensorMap nova =
      Hub(Initial(), {Round("fednova", 20, 1, Sgd()), Round("fednova", 7, 5, Sgd())});
  const TensorMap avg = Merge({Round("fedavg", 20, 1, Sgd()), Round("fedavg", 7, 5, Sgd())}).mean;
  EXPECT_GT(Largest(nova - avg), 1e-3);
}

// [tau - rho (1 - rho^tau) / (1 - rho)] / (1 - rho); rho = 1/2 and two steps:
// [2 - 1/2 * 3/4 / (1/2)] * 2 = 2.5 = 1 + (1 + 1/2).
TEST(FedNova, MomentumCountsAsInTheClosedForm) {
  const auto closed = [](double tau, double rho) {
    return (tau - rho * (1 - std::pow(rho, tau)) / (1 - rho)) / (1 - rho);
  };
  EXPECT_DOUBLE_EQ(closed(2, 0.5), 2.5);
  const auto sent = [](int64_t n, double rho) {
    return Round("fednova", n, 1, Sgd(rho)).sums.at("a/text.hash.bias").item<double>();
  };
  EXPECT_NEAR(sent(20, 0.5), closed(12, 0.5), 1e-5);
  EXPECT_NEAR(sent(7, 0.9), closed(6, 0.9), 1e-5);
  EXPECT_NEAR(sent(7, 1.0), 6 * 7 / 2, 1e-5);  // its limit: 1 + 2 + ... + 6
}

TEST(FedNova, AdamCountsSteps) {
  TrainingOptions adam = Sgd(0.9);
  adam.optimizer.kind = "adam";
  EXPECT_EQ(Round("fednova", 20, 1, adam).sums.at("a/image.hash.bias").item<double>(), 12);
}

TEST(FedNova, WithoutMovementTheGlobalModelStays) {
  TrainingOptions still = Sgd();
  still.optimizer.learning_rate = 0;
  EXPECT_EQ(Largest(Hub(Initial(), {Round("fednova", 1, 1, still)}) - Initial()), 0);
  // Nobody trained x: d = 0 and a = 0.
  const Update none{.sums = {{"d/x", torch::zeros({1})}, {"a/x", torch::zeros({1})}}};
  EXPECT_EQ(Hub({{"x", torch::ones({1})}}, {none}).at("x").item<double>(), 1);
}

}  // namespace
}  // namespace crossilo

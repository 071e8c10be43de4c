#include <gtest/gtest.h>

#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// Two networks of one weight each, which start at 0 and whose loss
// 1/2 (w - 1)^2 has the gradient w - 1.  An epoch takes two steps of the image
// network and one of the text network; the biases are never trained.
class Quadratic final : public HashModel {
 public:
  Quadratic() : HashModel({1, 1, 0}) {
    Random random(1);
    for (const char* layer : {"image.hash", "text.hash"}) AddLinear(layer, 1, 1, 0, random);
  }
  Encoded Forward(Modality, const torch::Tensor& x) const override { return {x, x, x}; }
  int64_t code_dims() const override { return 1; }
  std::unique_ptr<Learner> Learn(const Silo&, Random, Random) override;
};

class QuadraticLearner final : public Learner {
 public:
  explicit QuadraticLearner(const HashModel& model) : model_(model) {}
  std::vector<Step> PlanEpoch(int, int64_t, Random&) override {
    const torch::Tensor rows = torch::tensor({0});
    return {{rows, {Modality::kImage}}, {rows, {Modality::kImage}}, {rows, {Modality::kText}}};
  }
  torch::Tensor Loss(const Step& step, Seen&) override {
    const std::string name = NameOf(step.trains.front()) + ".hash.weight";
    return 0.5 * (model_.parameters().at(name) - 1).square().sum();
  }

 private:
  const HashModel& model_;
};

std::unique_ptr<Learner> Quadratic::Learn(const Silo&, Random, Random) {
  return std::make_unique<QuadraticLearner>(*this);
}

TrainingOptions Sgd(double rate, int64_t epochs) {
  TrainingOptions o{.local_epochs = epochs, .batch = 5};
  o.optimizer.learning_rate = rate;
  return o;
}

// One silo of `n` samples with a client.
struct Bench {
  Bench(std::unique_ptr<HashModel> m, const TrainingOptions& training, const std::string& table,
        int64_t n = 20, const std::string& method = "scaffold")
      : model(std::move(m)) {
    Random random(1);
    silo.all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random),
                torch::eye(2).repeat({(n + 1) / 2, 1}).slice(0, 0, n)};
    client =
        FindMethod(method).make_client({silo, *model, training, 9}, Config::Parse(table, "test"));
  }
  static std::unique_ptr<HashModel> Dcmh() {
    return FindModel("dcmh").make(
        {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
        Random(2));
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
  std::unique_ptr<Client> client;
};

std::unique_ptr<Server> Hub(const TensorMap& initial, int silos, const std::string& table = "") {
  return FindMethod("scaffold").make_server({initial, silos}, Config::Parse(table, "test"));
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

double Largest(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

double At(const TensorMap& a, const std::string& name) { return a.at(name).item<double>(); }

// Runs the toy's first round and returns the client's c_k+.
TensorMap FirstVariates(const TrainingOptions& training, const std::string& table) {
  Bench bench(std::make_unique<Quadratic>(), training, table);
  bench.client->Receive(Hub(Weights(*bench.model), 1)->Broadcast(0));
  bench.client->Train(1);
  return Under("c_k/", bench.client->State());
}

// Rate 0.1, c = c_k = 0.  Image: 0 -> 0.1 -> 0.1 + 0.1 * 0.9 = 0.19, so
// c_k+ = -0.19 / (2 * 0.1) = -0.95, the mean of the gradients -1 and -0.9.
// Text: one step to 0.1, c_k+ = -0.1 / 0.1 = -1.
TEST(Scaffold, FirstVariatesWorkedByHand) {
  for (const char* variates : {"auto", "weights", "gradients"}) {
    const TensorMap c_k =
        FirstVariates(Sgd(0.1, 1), std::string("variates = '") + variates + "'\n");
    EXPECT_NEAR(At(c_k, "image.hash.weight"), -0.95, 1e-6) << variates;
    EXPECT_NEAR(At(c_k, "text.hash.weight"), -1, 1e-6) << variates;
    EXPECT_EQ(At(c_k, "image.hash.bias"), 0) << variates;
  }
}

// The second round from w_t = 0 again with c = 0.5 and c_k = -0.95, so that
// c - c_k = 1.45:  0 -> -0.1 (-1 + 1.45) = -0.045
// -> -0.045 - 0.1 (-1.045 + 1.45) = -0.0855;
// c_k+ = -0.95 - 0.5 + 0.0855 / 0.2 = -1.0225, the mean of -1 and -1.045.
TEST(Scaffold, ACorrectedRoundWorkedByHand) {
  for (const char* variates : {"weights", "gradients"}) {
    Bench bench(std::make_unique<Quadratic>(), Sgd(0.1, 1),
                std::string("variates = '") + variates + "'\n", 4);
    TensorMap broadcast = Hub(Weights(*bench.model), 1)->Broadcast(0);
    bench.client->Receive(broadcast);
    bench.client->Train(1);
    broadcast["c/image.hash.weight"] = torch::full({1, 1}, 0.5);
    bench.client->Receive(broadcast);
    const Update update = bench.client->Train(2);
    EXPECT_NEAR(At(update.sums, "dy/image.hash.weight"), -0.0855, 1e-6);
    const TensorMap c_k = Under("c_k/", bench.client->State());
    EXPECT_NEAR(At(c_k, "image.hash.weight"), -1.0225, 1e-6) << variates;
    // Four samples: dc = -1.0225 + 0.95 = -0.0725 travels as a quarter.
    EXPECT_NEAR(At(update.sums, "dc/image.hash.weight"), -0.0725 / 4, 1e-6);
    EXPECT_EQ(At(update.sums, "share"), 0.25);
    EXPECT_EQ(update.weight, 4);
  }
}

// Two epochs at 0.1 and 0.05: 0.19, then 0.19 + 0.05 * 0.81 = 0.2305, then
// 0.2305 + 0.05 * 0.7695 = 0.268975; the rates sum to 0.3.
TEST(Scaffold, TheDivisorIsTheSumOfTheScheduledRates) {
  TrainingOptions training = Sgd(0.1, 2);
  training.rounds = 1;
  training.schedule = "linear";
  training.final_learning_rate = 0.05;
  EXPECT_NEAR(At(FirstVariates(training, ""), "image.hash.weight"), -0.268975 / 0.3, 1e-5);
}

// rho = 0.5: m = -1, w = 0.1; m = -0.5 - 0.9 = -1.4, w = 0.24;
// c_k+ = -0.24 / (0.2 / 0.5) = -0.6.
TEST(Scaffold, MomentumLengthensTheDivisor) {
  TrainingOptions training = Sgd(0.1, 1);
  training.optimizer.momentum = 0.5;
  EXPECT_NEAR(At(FirstVariates(training, ""), "image.hash.weight"), -0.6, 1e-6);
}

// Adam's first step is one rate long: gradients -1 and 0.1 - 1.
TEST(Scaffold, WithAdamTheVariateIsTheMeanGradient) {
  TrainingOptions training = Sgd(0.1, 1);
  training.optimizer.kind = "adam";
  EXPECT_NEAR(At(FirstVariates(training, ""), "image.hash.weight"), -0.95, 1e-5);
}

TEST(Scaffold, WithoutARateOrWithEndlessMomentumTheVariateStays) {
  EXPECT_EQ(Largest(FirstVariates(Sgd(0, 1), "")), 0);
  TrainingOptions endless = Sgd(0.1, 1);
  endless.optimizer.momentum = 1;
  EXPECT_EQ(Largest(FirstVariates(endless, "")), 0);
}

// Weights 1 and 3: dy = (1 * 2 + 3 * 6) / 4 = 5.  Variates all alike:
// dc = (4 + 8) / 2 = 6, which travels as 4/1 and 8/3.
TEST(Scaffold, TheHubsRuleWorkedByHand) {
  const auto update = [](double dy, double dc, double weight) {
    return Update{.sums = {{"dy/x", torch::full({1}, dy)},
                           {"dc/x", torch::full({1}, dc / weight)},
                           {"share", torch::full({1}, 1 / weight)}},
                  .weight = weight};
  };
  const Merged round = Merge({update(2, 4, 1), update(6, 8, 3)});
  // Of four silos two are missing: |S|/N = 1/2.
  for (const auto& [silos, c] : {std::pair{2, 6.0}, std::pair{4, 3.0}}) {
    const auto hub = Hub({{"x", torch::ones({1})}}, silos);
    hub->Merge(round);
    EXPECT_NEAR(At(hub->Broadcast(0), "x"), 1 + 5, 1e-6);
    EXPECT_NEAR(At(hub->Broadcast(0), "c/x"), c, 1e-5);
    EXPECT_EQ(hub->Global().size(), 1u);
  }
  const auto half = Hub({{"x", torch::ones({1})}}, 2, "server_rate = 0.5\n");
  half->Merge(round);
  EXPECT_NEAR(At(half->Global(), "x"), 1 + 2.5, 1e-6);
}

TEST(Scaffold, TheFirstRoundIsFedAvgsToTheBit) {
  Bench a(Bench::Dcmh(), Sgd(0.1, 3), ""), b(Bench::Dcmh(), Sgd(0.1, 3), "", 20, "fedavg");
  const TensorMap w_t = Weights(*a.model);
  a.client->Receive(Hub(w_t, 1)->Broadcast(0));
  b.client->Receive(w_t);
  const TensorMap dy = Under("dy/", a.client->Train(1).sums);
  EXPECT_GT(Largest(dy), 0);
  EXPECT_EQ(Largest(dy - (b.client->Train(1).sums - w_t)), 0);
}

// c_k = c for ever, so that nothing is corrected.
TEST(Scaffold, WithOneSiloItIsFedAvg) {
  Bench a(Bench::Dcmh(), Sgd(0.1, 2), ""), b(Bench::Dcmh(), Sgd(0.1, 2), "", 20, "fedavg");
  const auto hub = Hub(Weights(*a.model), 1);
  TensorMap w = Weights(*b.model);
  for (int round = 1; round <= 3; ++round) {
    a.client->Receive(hub->Broadcast(0));
    hub->Merge(Merge({a.client->Train(round)}));
    b.client->Receive(w);
    w = b.client->Train(round).sums;
    EXPECT_GT(Largest(Under("c/", hub->Broadcast(0))), 1e-3);
  }
  EXPECT_LT(Largest(hub->Global() - w), 1e-5);
}

// w_t - y = rate sum (g + 0 - 0) for plain SGD.
TEST(Scaffold, FromWeightsAndFromGradientsAgreeForPlainSgd) {
  Bench a(Bench::Dcmh(), Sgd(0.1, 3), "variates = 'weights'\n");
  Bench b(Bench::Dcmh(), Sgd(0.1, 3), "variates = 'gradients'\n");
  for (Bench* bench : {&a, &b}) {
    bench->client->Receive(Hub(Weights(*bench->model), 1)->Broadcast(0));
    bench->client->Train(1);
  }
  const TensorMap weights = Under("c_k/", a.client->State());
  EXPECT_GT(Largest(weights), 1e-3);
  EXPECT_LT(Largest(weights - Under("c_k/", b.client->State())), 1e-5);
}

TEST(Scaffold, AResumedRoundIsTheSameToTheBit) {
  Bench a(Bench::Dcmh(), Sgd(0.1, 2), ""), b(Bench::Dcmh(), Sgd(0.1, 2), "");
  // The second silo makes c another than c_k.
  const auto hub = Hub(Weights(*a.model), 2);
  a.client->Receive(hub->Broadcast(0));
  hub->Merge(Merge({a.client->Train(1)}));
  const auto resumed = Hub(Weights(*b.model), 2);
  resumed->SetState(hub->State());
  b.client->SetState(a.client->State());
  a.client->Receive(hub->Broadcast(0));
  b.client->Receive(resumed->Broadcast(0));
  EXPECT_EQ(Largest(a.client->Train(2).sums - b.client->Train(2).sums), 0);
}

// A single sample, a batch that is larger, all labels equal.
TEST(Scaffold, ASiloOfOneSampleStaysFinite) {
  Bench bench(Bench::Dcmh(), Sgd(0.1, 1), "", 1);
  bench.client->Receive(Hub(Weights(*bench.model), 1)->Broadcast(0));
  EXPECT_EQ(FirstNotFinite(bench.client->Train(1).sums), "");
}

}  // namespace
}  // namespace crossilo

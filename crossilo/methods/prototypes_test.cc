#include "crossilo/methods/prototypes.h"

#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

constexpr auto kImage = Modality::kImage, kText = Modality::kText;

bool Equal(const TensorMap& a, const TensorMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, x] : a) {
    if (!b.contains(name) || !torch::equal(x, b.at(name))) return false;
  }
  return true;
}

// Samples (1,2), (3,4), (5,6) of classes {0}, {0,1} and none, of three.
TensorMap Share(bool first, bool by_samples) {
  PrototypeSums sums(3, 2);
  const auto labels = torch::tensor({{1., 0., 0.}, {1., 1., 0.}, {0., 0., 0.}});
  const torch::Tensor raw = torch::tensor({{1., 2.}, {3., 4.}, {5., 6.}}).to(torch::kFloat);
  sums.Add(kImage, raw.slice(0, 0, 1), Members(labels.slice(0, 0, 1), first));
  sums.Add(kImage, raw.slice(0, 1, 3), Members(labels.slice(0, 1, 3), first));
  return sums.Share(by_samples);
}

torch::Tensor Rows(const std::vector<float>& values, int64_t columns) {
  return torch::tensor(values, torch::kFloat).reshape({-1, columns});
}

TEST(Prototypes, ASilosShareWorkedByHand) {
  // class 0: ((1,2) + (3,4)) / 2; class 1: (3,4); class 2: nobody
  const TensorMap mean = Share(false, false);
  EXPECT_TRUE(torch::equal(mean.at("prototype/image"), Rows({2, 3, 3, 4, 0, 0}, 2)));
  EXPECT_TRUE(torch::equal(mean.at("owners/image"), torch::tensor({1.f, 1.f, 0.f})));
  const TensorMap sum = Share(false, true);
  EXPECT_TRUE(torch::equal(sum.at("prototype/image"), Rows({4, 6, 3, 4, 0, 0}, 2)));
  EXPECT_TRUE(torch::equal(sum.at("owners/image"), torch::tensor({2.f, 1.f, 0.f})));
  // The first of {0,1} is 0: class 1 has no sample left.
  const TensorMap first = Share(true, false);
  EXPECT_TRUE(torch::equal(first.at("prototype/image"), Rows({2, 3, 0, 0, 0, 0}, 2)));
  EXPECT_TRUE(torch::equal(first.at("owners/image"), torch::tensor({1.f, 0.f, 0.f})));
  // Nothing was seen of the text.
  EXPECT_EQ(mean.at("owners/text").sum().item<double>(), 0);
}

TEST(Prototypes, TheHubsMeanIsOverOwnersOrSamples) {
  PrototypeSums other(3, 2);
  other.Add(kImage, Rows({8, 9}, 2), Rows({1, 0, 0}, 3));
  const auto global = [&](bool by_samples) {
    return GlobalPrototypes(0.5 * (Share(false, by_samples) + other.Share(by_samples)), 2);
  };
  // class 0: ((2,3) + (8,9)) / 2, or by samples ((4,6) + (8,9)) / 3
  EXPECT_TRUE(torch::allclose(global(false).at("prototype/image"), Rows({5, 6, 3, 4, 0, 0}, 2)));
  EXPECT_TRUE(torch::allclose(global(true).at("prototype/image"), Rows({4, 5, 3, 4, 0, 0}, 2)));
  EXPECT_TRUE(torch::equal(global(true).at("present/image"), torch::tensor({1.f, 1.f, 0.f})));
  // The text of nobody: absent, and no NaN.
  EXPECT_EQ(global(false).at("present/text").sum().item<double>(), 0);
  EXPECT_EQ(FirstNotFinite(global(false)), "");
  EXPECT_TRUE(GlobalPrototypes({}, 2).empty());
}

const Prototypes kGlobal{Rows({1, 1, 3, 5, 0, 0}, 2), torch::tensor({1.f, 1.f, 0.f})};

TEST(Prototypes, LossesWorkedByHand) {
  const torch::Tensor raw = Rows({2, 5, 4, 5, 7, 7}, 2).set_requires_grad(true);
  const torch::Tensor members = Rows({1, 1, 0, 0, 1, 1, 0, 0, 1}, 3);
  // {0,1}: target (2,3), off by (0,2); {1,2}: (3,5), class 2 has none, off by
  // (1,0); {2}: no target.
  const torch::Tensor sample = SampleMse(raw, members, kGlobal);
  EXPECT_NEAR(sample.item<double>(), (4. + 1.) / 6, 1e-6);
  sample.backward();
  EXPECT_TRUE(torch::allclose(raw.grad(), 2. / 6 * Rows({0, 2, 1, 0, 0, 0}, 2)));
  // Class 0: (2,5) - (1,1) = (1,4); class 1: the mean (3,5) is its prototype.
  EXPECT_NEAR(ClassMse(raw, members, kGlobal).item<double>(), 17. / 4, 1e-6);
  // r = 2, F P^T = 7 31 0 | 9 37 0 | 14 56 0 against 2 2 0 | 0 2 2 | 0 0 2
  EXPECT_NEAR(PrototypeSimilarity(raw, members, kGlobal).item<double>(),
              25 + 841 + 81 + 1225 + 4 + 196 + 3136 + 4, 1e-2);
}

TEST(Prototypes, WithoutAnyThereIsNoLossAndNoGradient) {
  const Prototypes none{torch::zeros({3, 2}), torch::zeros({3})};
  const torch::Tensor raw = Rows({2, 5, 4, 5}, 2).set_requires_grad(true);
  const torch::Tensor loss = SampleMse(raw, Rows({1, 1, 0, 0, 0, 0}, 3), none) +
                             ClassMse(raw, Rows({1, 1, 0, 0, 0, 0}, 3), none);
  loss.backward();
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_EQ(raw.grad().abs().sum().item<double>(), 0);
  EXPECT_FALSE(Prototypes::From({}, kText, torch::kCPU).defined());
}

// Three silos of four classes: the last class nobody has, silo 2 only the first.
struct Federation {
  Federation(const std::string& method, const std::string& table, double rate = 0.1)
      : server(FindMethod(method).make_server({{}, 3}, Config())) {
    for (int id = 0; id < 3; ++id) {
      Random random(50 + id);
      const int64_t n = 5 + id;
      torch::Tensor labels = torch::zeros({n, 4});
      for (int64_t i = 0; i < n; ++i) labels[i][id == 2 ? 0 : i % 3] = 1;
      silos[id].id = id;
      silos[id].all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random), labels};
      models.push_back(FindModel("dcmh").make(
          {3, 3, 4}, Config::Parse("bits = 8\nhidden_image = 4\nhidden_text = 4\n", "test"),
          Random(3)));
      clients.push_back(FindMethod(method).make_client(
          {silos[id],
           *models[id],
           {.local_epochs = 2, .batch = 3, .optimizer = {.learning_rate = rate}},
           9,
           3},
          Config::Parse(table, "test")));
    }
  }
  std::vector<Update> Round(int round) {
    std::vector<Update> updates;
    Merged merged;
    for (const auto& client : clients) {
      client->Receive(server->Broadcast(0));
      updates.push_back(client->Train(round));
      const TensorMap part = 1. / 3 * updates.back().sums;
      merged.mean = merged.mean.empty() ? part : merged.mean + part;
    }
    server->Merge(merged);
    return updates;
  }
  TensorMap Models() const {
    TensorMap all;
    for (int i = 0; i < 3; ++i) all.merge(Prefixed(std::to_string(i), Weights(*models[i])));
    return all;
  }

  Silo silos[3];
  std::vector<std::unique_ptr<HashModel>> models;
  std::vector<std::unique_ptr<Client>> clients;
  std::unique_ptr<Server> server;
};

TEST(FedProto, WithLambdaZeroIsLocalToTheBit) {
  Federation local("local", ""), zero("fedproto", "lambda = 0.0\n"), one("fedproto", "");
  for (int round = 1; round <= 3; ++round) {
    local.Round(round), zero.Round(round), one.Round(round);
    EXPECT_TRUE(Equal(local.Models(), zero.Models())) << round;
    // Before the first prototypes there is nothing to be pulled to.
    EXPECT_EQ(Equal(local.Models(), one.Models()), round == 1) << round;
  }
}

TEST(FedProto, OfFrozenWeightsPrototypesAreTheClassMeans) {
  Federation run("fedproto", "prototype_weights = 'samples'\n", 0);
  run.Round(1);
  torch::Tensor sum = torch::zeros({4, 8}), n = torch::zeros({4});
  for (int i = 0; i < 3; ++i) {
    const Batch& all = run.silos[i].all;
    sum += all.labels.t().mm(run.models[i]->Encode(kText, all.text).raw.detach());
    n += all.labels.sum(0);
  }
  const TensorMap global = run.server->Broadcast(0);
  EXPECT_TRUE(torch::allclose(global.at("prototype/text"), sum / n.clamp_min(1).unsqueeze(1)));
  EXPECT_TRUE(torch::equal(global.at("present/text"), n.gt(0).to(torch::kFloat)));
}

TEST(FedProto, SendsPrototypesOfTheLastEpochOnly) {
  Federation run("fedproto", "prototype_weights = 'samples'\n");
  const Update update = run.Round(1)[1];
  EXPECT_TRUE(update.gathered.empty());
  EXPECT_EQ(update.sums.size(), 4u);
  EXPECT_EQ(update.weight, 1);
  // Six samples, each once and not once an epoch.
  EXPECT_TRUE(torch::equal(update.sums.at("owners/image"), torch::tensor({2.f, 2.f, 2.f, 0.f})));
}

TEST(FedProto, AClassThatNobodyHasGivesNoNan) {
  Federation run("fedproto", "o1 = 'class'\nlabels_of = 'first'\nlambda = 5.0\n");
  for (int round = 1; round <= 3; ++round) run.Round(round);
  EXPECT_EQ(FirstNotFinite(run.Models()), "");
  EXPECT_EQ(run.server->State().at("present/image")[3].item<float>(), 0);
}

TEST(FedProto, GoesOnFromItsStateInTheSameBits) {
  Federation whole("fedproto", ""), again("fedproto", "");
  whole.Round(1);
  again.server->SetState(whole.server->State());
  for (int i = 0; i < 3; ++i) again.clients[i]->SetState(whole.clients[i]->State());
  whole.Round(2), again.Round(2);
  EXPECT_TRUE(Equal(whole.Models(), again.Models()));
}

TEST(FedProto, WithoutLabelsSaysSo) {
  Silo silo{.all = {torch::zeros({2, 1}), torch::zeros({2, 1}), {}}};
  const auto model = FindModel("ucch").make({1, 1, 0}, Config(), Random(1));
  EXPECT_THROW(FindMethod("fedproto").make_client({silo, *model, {}, 1}, Config()), Error);
}

}  // namespace
}  // namespace crossilo

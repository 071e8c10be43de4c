#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/methods/layered_server.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;
using Mix = LayeredOptions::Mix;

double Largest(const TensorMap& a) {
  double most = 0;
  for (const auto& [name, x] : a) most = std::max(most, x.abs().max().item<double>());
  return most;
}

// Of the hub alone: one layer a modality and one tensor of neither.
TensorMap Random3(uint64_t seed, const std::string& prefix = "") {
  Random random(seed);
  return Prefixed(prefix, {{"image.a.bias", RandomNormal({2}, random)},
                           {"image.a.weight", RandomNormal({2, 3}, random)},
                           {"centres", RandomNormal({4}, random)},
                           {"text.b.weight", RandomNormal({2, 3}, random)}});
}

LayeredServer Hub(Mix mix, bool sequential, int silos = 2) {
  LayeredOptions options{.mix = mix, .sequential = sequential};
  options.hypernetwork.rate = 0.1;
  return {{.initial = Random3(1), .silos = silos, .seed = 7}, options};
}

TensorMap Theta(const LayeredServer& hub, int silo) {
  return Under("theta/" + std::to_string(silo) + "/", hub.State());
}

TEST(LayeredServer, IdenticalSilosMixToThemselvesAndTeachNothing) {
  LayeredServer hub = Hub(Mix::kHypernetwork, true, 3);
  EXPECT_LT(Largest(Under("w/", hub.Broadcast(1)) - Random3(1)), 1e-6);
  const TensorMap before = Under("network/", hub.State());
  hub.Arrived(0, Random3(2, "d/"));
  // Three silos, three networks: an embedding, three layers and one head each.
  EXPECT_EQ(before.size(), 3 * 3 * (1 + 6 + 2u));
  EXPECT_EQ(Largest(Under("network/", hub.State()) - before), 0);
}

// Theta_0 - theta_1 is what silo 0 learned, so D = (<d_0, d_1>, 0) for silo 1.
TEST(LayeredServer, TeachesByTheInnerProductsOfEveryLayer) {
  LayeredServer hub = Hub(Mix::kHypernetwork, true);
  LayeredServer before = Hub(Mix::kHypernetwork, true);
  const TensorMap d0 = Random3(2), d1 = Random3(3);
  hub.Arrived(0, Prefixed("d/", d0));
  hub.Arrived(1, Prefixed("d/", d1));
  HypernetworkOptions options{.rate = 0.1};
  Hypernetwork image({"image.a"}, 2, options, Random(0));
  image.SetState(Under("network/1/image/", before.State()));
  const double D = (d0.at("image.a.weight") * d1.at("image.a.weight")).sum().item<double>() +
                   (d0.at("image.a.bias") * d1.at("image.a.bias")).sum().item<double>();
  image.Learn({{"image.a", AlphaGradient(image.Alpha().at("image.a"), {D, 0})}});
  EXPECT_LT(Largest(image.State() - Under("network/1/image/", hub.State())), 1e-6);
  EXPECT_GT(Largest(image.State() - Under("network/1/image/", before.State())), 1e-4);
  // Theta_1 is what was broadcast, from the weights before the lesson, plus d_1.
  before.Arrived(0, Prefixed("d/", d0));
  EXPECT_EQ(Largest(Theta(hub, 1) - (Under("w/", before.Broadcast(1)) + d1)), 0);
}

TEST(LayeredServer, IdentityGivesASiloItsOwn) {
  LayeredServer hub = Hub(Mix::kIdentity, true);
  hub.Arrived(1, Random3(2, "d/"));
  EXPECT_EQ(Largest(Under("w/", hub.Broadcast(0)) - Random3(1)), 0);
  EXPECT_EQ(Largest(Under("w/", hub.Broadcast(1)) - (Random3(1) + Random3(2))), 0);
}

TEST(LayeredServer, OneAfterAnotherAndAllAtOnceWorkedByHand) {
  const TensorMap w = Random3(1), d0 = Random3(2), d1 = Random3(3);
  LayeredServer one = Hub(Mix::kUniform, true), all = Hub(Mix::kUniform, false);
  EXPECT_EQ(one.exchange(), Exchange::kOneByOne);
  EXPECT_EQ(all.exchange(), Exchange::kAtOnce);
  one.Arrived(0, Prefixed("d/", d0));
  one.Arrived(1, Prefixed("d/", d1));
  one.Merge({.mean = {}, .gathered = {{0, {}}, {1, {}}}});
  all.Merge({.mean = {}, .gathered = {{0, Prefixed("d/", d0)}, {1, Prefixed("d/", d1)}}});
  // Silo 1 starts from (w + d_0 + w) / 2, or from w.
  EXPECT_LT(Largest(Theta(one, 0) - (w + d0)), 1e-6);
  EXPECT_LT(Largest(Theta(one, 1) - (w + 0.5 * d0 + d1)), 1e-6);
  EXPECT_LT(Largest(Theta(all, 1) - (w + d1)), 1e-6);
  EXPECT_LT(Largest(Under("w/", all.Broadcast(0)) - (w + 0.5 * (d0 + d1))), 1e-6);
}

TEST(LayeredServer, AnAbsentSiloKeepsItsWeights) {
  LayeredServer hub = Hub(Mix::kHypernetwork, false, 3);
  hub.Merge({.mean = {}, .gathered = {{1, Random3(2, "d/")}}});
  EXPECT_EQ(Largest(Theta(hub, 0) - Random3(1)), 0);
  EXPECT_LT(Largest(Theta(hub, 1) - (Random3(1) + Random3(2))), 1e-6);
}

TEST(LayeredServer, OfOneSiloIsTheSiloItself) {
  LayeredServer hub = Hub(Mix::kHypernetwork, true, 1);
  hub.Arrived(0, Random3(2, "d/"));
  EXPECT_LT(Largest(Under("w/", hub.Broadcast(0)) - (Random3(1) + Random3(2))), 1e-6);
}

// Silos and hub as a run has them, with Adam, for which the factor of 1e5 is
// meant.  Silo 2 is smaller than a batch and has one class; class 2 nobody has.
struct Federation {
  Federation(const std::string& method, const std::string& table, int count = 3, double rate = 0.01,
             int64_t bits = 8, int64_t epochs = 2)
      : silos(count) {
    const Config config = Config::Parse(table, "test");
    for (int id = 0; id < count; ++id) {
      Random random(50 + id);
      const int64_t n = id == 2 ? 2 : 8;
      torch::Tensor labels = torch::zeros({n, 3});
      for (int64_t i = 0; i < n; ++i) labels[i][id == 2 ? 0 : i % 2] = 1;
      silos[id].id = id;
      silos[id].all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random), labels};
      models.push_back(FindModel("dcmh").make(
          {3, 3, 3},
          Config::Parse(fmt::format("bits = {}\nhidden_image = 4\nhidden_text = 4\n", bits),
                        "test"),
          Random(3)));
      clients.push_back(
          FindMethod(method).make_client({silos[id],
                                          *models[id],
                                          {.local_epochs = epochs,
                                           .batch = 4,
                                           .optimizer = {.kind = "adam", .learning_rate = rate}},
                                          9,
                                          count},
                                         config));
    }
    server = FindMethod(method).make_server({Weights(*models[0]), count, {}, bits, 9}, config);
  }

  std::map<int, Update> Round(int round, std::vector<int> order = {0, 1, 2}) {
    std::map<int, Update> updates;
    for (int i : order) {
      clients[i]->Receive(server->Broadcast(i));
      updates[i] = clients[i]->Train(round);
      if (server->exchange() == Exchange::kOneByOne) {
        server->Arrived(i, updates[i].gathered);
      }
    }
    Merged merged;
    for (const auto& [i, update] : updates) {
      const TensorMap part = 1. / static_cast<double>(updates.size()) * update.sums;
      merged.mean = merged.mean.empty() ? part : merged.mean + part;
      merged.gathered[i] =
          server->exchange() == Exchange::kOneByOne ? TensorMap{} : update.gathered;
    }
    server->Merge(merged);
    return updates;
  }

  std::vector<Silo> silos;
  std::vector<std::unique_ptr<HashModel>> models;
  std::vector<std::unique_ptr<Client>> clients;
  std::unique_ptr<Server> server;
};

TEST(PlFedCmh, UniformSharesAreFedAvg) {
  Federation layered("plfedcmh", "layered = 'uniform'\norder = 'parallel'\nproto = false\n");
  Federation fedavg("fedavg", "weights = 'uniform'\n");
  for (int round = 1; round <= 3; ++round) {
    layered.Round(round), fedavg.Round(round);
    EXPECT_LT(Largest(Under("w/", layered.server->Broadcast(1)) - fedavg.server->Global()), 1e-5);
  }
  EXPECT_GT(Largest(fedavg.server->Global() - Weights(*layered.models[0])), 1e-3);
}

TEST(PlFedCmh, OnlyInSequenceTheOrderOfSilosMatters) {
  for (const char* order : {"sequential", "parallel"}) {
    const std::string table = fmt::format("order = '{}'\n", order);
    Federation forth("plfedcmh", table), back("plfedcmh", table);
    for (int round = 1; round <= 2; ++round) {
      forth.Round(round, {0, 1, 2}), back.Round(round, {2, 1, 0});
    }
    const double apart = Largest(forth.server->State() - back.server->State());
    EXPECT_EQ(apart > 0, std::string(order) == "sequential") << apart;
  }
  Federation one("plfedcmh", ""), all("plfedcmh", "order = 'parallel'\n");
  one.Round(1), all.Round(1);
  EXPECT_GT(Largest(one.server->State() - all.server->State()), 1e-4);
}

// Weights of zero and biases of 1/2: raw and output are 1/2 everywhere.  Four
// samples each of classes 0 and 1; class 0 has a prototype of ones.
double LossAtOneHalf(const std::string& method, const std::string& table, bool prototypes) {
  Federation run(method, table, 3, 0);
  TensorMap broadcast;
  for (auto& [name, w] : run.models[0]->parameters()) {
    torch::NoGradGuard no_grad;
    w.fill_(name.ends_with("hash.bias") ? 0.5 : 0);
    broadcast["w/" + name] = w.detach().clone();
  }
  for (const char* m : {"image", "text"}) {
    if (!prototypes) continue;
    broadcast[std::string("prototype/") + m] =
        torch::tensor({1.f, 0.f, 0.f}).unsqueeze(1).expand({3, 8}).clone();
    broadcast[std::string("present/") + m] = torch::tensor({1.f, 0.f, 0.f});
  }
  run.clients[0]->Receive(broadcast);
  return run.clients[0]->Train(1).loss;
}

TEST(PlFedCmh, LossWorkedByHand) {
  const auto added = [](const std::string& method, const std::string& table) {
    return LossAtOneHalf(method, table, true) - LossAtOneHalf(method, table, false);
  };
  // Per sample of class 0: MSE (1/2)^2 and |rL - F P^T|^2 = (8 - 4)^2 = 16; of
  // class 1: no target, 4^2 + 8^2 = 80.  Half of 8 samples each in batches of 4:
  // the mean over two batches is that of 2 + 2 samples.  n b = 32.
  const double o1 = 0.25 / 2, similar = 2 * 16 + 2 * 80;
  EXPECT_NEAR(added("plfedcmh", "beta = 0.0\neta = 1.0\n"), o1 / 32, 1e-5);
  const std::string raw = "similar = 'raw'\n";
  EXPECT_NEAR(added("plfedcmh", raw), (0.5 * similar + 1e3 * o1) / 32, 1e-2);
  EXPECT_NEAR(added("pepfch", raw), (0.1 * similar + 1e3 * o1) / 32, 1e-2);
  // With tanh(1) = .7616 for 1: (8 - 4 t)^2, then (4 t)^2 + 8^2.
  const double t = std::tanh(1.0), x = 8 - 4 * t;
  const double bounded = 2 * x * x + 2 * (16 * t * t + 64);
  EXPECT_NEAR(added("plfedcmh", ""), (0.5 * bounded + 1e3 * o1) / 32, 1e-2);
  EXPECT_NEAR(added("fedproto", ""), o1, 1e-5);
  EXPECT_NEAR(added("fedproto", "lambda = 3.0\n"), 3 * o1, 1e-5);
  // Class means: class 0 alone is compared, in both batches.
  EXPECT_NEAR(added("fedproto", "o1 = 'class'\n"), 0.25, 1e-5);
}

TEST(PlFedCmh, TheFirstRoundHasNoPrototypeTerms) {
  Federation with("plfedcmh", "layered = 'identity'\n");
  Federation without("plfedcmh", "layered = 'identity'\nproto = false\n");
  const auto a = with.Round(1), b = without.Round(1);
  EXPECT_EQ(a.at(0).loss, b.at(0).loss);
  EXPECT_EQ(Largest(a.at(1).gathered - b.at(1).gathered), 0);
  EXPECT_TRUE(b.at(0).sums.empty());
  EXPECT_EQ(a.at(0).sums.size(), 4u);
  EXPECT_EQ(a.at(0).gathered.size(), 8u);
  EXPECT_NE(with.Round(2).at(0).loss, without.Round(2).at(0).loss);
  EXPECT_EQ(without.server->Broadcast(0).size(), 8u);
}

TEST(PlFedCmh, GoesOnFromItsStateInTheSameBits) {
  for (const char* table : {"", "order = 'parallel'\nlayered = 'hn'\nhn_sign = 'literal'\n",
                            "proto_privacy = 'noise-literal'\n"}) {
    const char* method = std::string(table).starts_with("proto") ? "pepfch" : "plfedcmh";
    Federation whole(method, table), again(method, table);
    whole.Round(1), whole.Round(2, {0, 2});
    again.server->SetState(whole.server->State());
    for (int i = 0; i < 3; ++i) again.clients[i]->SetState(whole.clients[i]->State());
    EXPECT_EQ(Largest(Weights(*whole.models[1]) - Weights(*again.models[1])), 0);
    whole.Round(3), again.Round(3);
    EXPECT_EQ(Largest(whole.server->State() - again.server->State()), 0) << table;
    EXPECT_EQ(FirstNotFinite(whole.server->State()), "");
  }
}

TEST(PepFch, IsPlFedCmhWithAnotherBeta) {
  Federation pepfch("pepfch", ""), plfedcmh("plfedcmh", "beta = 0.1\n");
  for (int round = 1; round <= 2; ++round) {
    pepfch.Round(round), plfedcmh.Round(round);
    EXPECT_EQ(Largest(Under("theta/", pepfch.server->State()) -
                      Under("theta/", plfedcmh.server->State())),
              0);
  }
}

TEST(PepFch, LiteralNoiseHasTheVarianceThatTheCodeGives) {
  for (const char* order : {"sequential", "parallel"}) {
    const std::string table = fmt::format("order = '{}'\n", order);
    Federation clear("pepfch", table, 2, 0, 1024, 1);
    Federation noisy("pepfch", table + "proto_privacy = 'noise-literal'\n", 2, 0, 1024, 1);
    // Silo 0 keeps one sample of class 2, which gets no noise of its own.
    for (Federation* run : {&clear, &noisy}) {
      run->silos[0].all.labels[7] = torch::tensor({0.f, 0.f, 1.f});
      const Update update = run->Round(1, {0, 1}).at(0);
      EXPECT_EQ(update.sums.empty(), run == &noisy);
    }
    for (const char* name : {"prototype/image", "prototype/text"}) {
      const torch::Tensor off =
          clear.server->Broadcast(0).at(name) - noisy.server->Broadcast(0).at(name);
      // Of class 0 both silos have four samples; of class 2 one silo has one.
      EXPECT_NEAR(off[0].square().mean().item<double>(), (1 + 1. / 4) / 2, 0.1) << name;
      EXPECT_NEAR(off[2].square().mean().item<double>(), 1, 0.15) << name;
    }
  }
}

TEST(PepFch, MasksCancelInTheSumAndHideAShare) {
  for (const char* weights : {"uniform", "samples"}) {
    const std::string table = fmt::format("prototype_weights = '{}'\n", weights);
    Federation clear("pepfch", table), masked("pepfch", table + "proto_privacy = 'mask'\n");
    const auto a = clear.Round(1), b = masked.Round(1);
    const TensorMap off =
        Under("p", clear.server->Broadcast(0)) - Under("p", masked.server->Broadcast(0));
    EXPECT_EQ(off.size(), 4u);
    EXPECT_LT(Largest(off), 1e-5);
    for (const auto& [name, x] : a.at(2).sums) {
      EXPECT_GT((x - b.at(2).sums.at(name)).abs().min().item<double>(), 1) << name;
    }
    // Another round, other masks.
    const auto c = masked.Round(2);
    EXPECT_GT(Largest(c.at(0).sums - b.at(0).sums), 1e4);
  }
}

TEST(PepFch, MasksOfAMissingSiloAreAnErrorThatNamesIt) {
  Federation run("pepfch", "proto_privacy = 'mask'\n");
  try {
    run.Round(1, {0, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("method.proto_privacy = 'mask'"));
    EXPECT_THAT(error.what(), HasSubstr("silos [1] took no part"));
  }
  Federation alone("pepfch", "proto_privacy = 'mask'\n", 1);
  alone.Round(1, {0});
  EXPECT_EQ(alone.server->Broadcast(0).at("present/image")[2].item<float>(), 0);
}

}  // namespace
}  // namespace crossilo

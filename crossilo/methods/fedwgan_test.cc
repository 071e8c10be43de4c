#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/methods/method.h"
#include "crossilo/methods/sends.h"
#include "crossilo/methods/wgan.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kDims = 12;
constexpr const char* kSmall =
    "gan_width = 4\ngan_noise = 4\nprototypes = 3\ngan_rate = 1e-3\nmu = 1.0\n";

// Non-negative features around one of three directions a sample, its class.
Silo Clustered(int id, int64_t n) {
  Random random(20 + id);
  torch::Tensor labels = torch::zeros({n, 3});
  for (int64_t i = 0; i < n; ++i) labels[i][(i + id) % 3] = 1;
  const torch::Tensor centre = labels.repeat_interleave(kDims / 3, 1);
  const auto around = [&] { return (centre + 0.05 * RandomNormal(centre.sizes(), random)).abs(); };
  Silo silo{.id = id};
  silo.all.image = around();
  silo.all.text = around();
  silo.all.labels = labels;
  return silo;
}

// Silos and hub as a run has them.
struct Federation {
  Federation(const std::string& base, const std::string& table,
             const std::string& method = "fedwgan", const std::string& input = "unit",
             std::vector<int64_t> sizes = {20, 10})
      : config(Config::Parse(table, "test")) {
    const Config model_table = Config::Parse(
        "bits = 8\nhidden_image = 5\nhidden_text = 5\ninput_dims = 7\ninput = '" + input + "'\n",
        "test");
    const Method& m = FindMethod(method);
    const auto make = [base, model_table, &m, this] {
      auto model = NewModel(FindModel(base), {kDims, kDims, 3}, model_table, Random(3));
      if (m.prepare) m.prepare(*model, config, 9);
      return model;
    };
    const TrainingOptions training{.rounds = 3,
                                   .local_epochs = 2,
                                   .batch = 8,
                                   .optimizer = {.kind = "adam", .learning_rate = 0.01}};
    const int count = static_cast<int>(sizes.size());
    for (int id = 0; id < count; ++id) silos.push_back(Clustered(id, sizes[id]));
    for (const Silo& silo : silos) {
      models.push_back(make());
      clients.push_back(m.make_client({silo, *models.back(), training, 9, count}, config));
    }
    const auto model = make();
    server = m.make_server(
        {Weights(*model), count, model->shape(), model->code_dims(), 9, training, make}, config);
  }

  void Round(int round) {
    Merged merged;
    double total = 0;
    std::vector<Update> updates;
    const bool one_by_one = server->exchange() == Exchange::kOneByOne;
    for (size_t i = 0; i < clients.size(); ++i) {
      const int id = static_cast<int>(i);
      clients[i]->Receive(server->Broadcast(id));
      updates.push_back(clients[i]->Train(round));
      total += updates.back().weight;
      EXPECT_EQ(FirstNotFinite(updates.back().gathered), "");
      if (one_by_one) server->Arrived(id, updates.back().gathered);
      merged.gathered[id] = one_by_one ? TensorMap{} : updates.back().gathered;
    }
    for (const Update& update : updates) {
      const TensorMap part = update.weight / total * update.sums;
      merged.mean = merged.mean.empty() ? part : merged.mean + part;
    }
    sent = updates;
    server->Merge(merged);
  }
  Federation& Rounds(int count) {
    for (int round = 1; round <= count; ++round) Round(round);
    return *this;
  }
  // What the method is judged by: a global model, or all silos' own.
  TensorMap Result() const {
    if (!server->Global().empty()) return server->Global();
    TensorMap all;
    for (size_t i = 0; i < models.size(); ++i) {
      all.merge(Prefixed(std::to_string(i) + "/", Weights(*models[i])));
    }
    return all;
  }

  Config config;
  std::vector<Silo> silos;
  std::vector<std::unique_ptr<HashModel>> models;
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<Update> sent;
  std::unique_ptr<Server> server;
};

double Largest(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

std::string Message(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string Inner(const std::string& method, const std::string& keys = "") {
  return keys + "inner = '" + method + "'\n" + kSmall;
}

TEST(FedWgan, WithoutTheGanIsTheInnerMethodToTheBit) {
  for (const char* base : {"ucch", "dcmh"}) {
    for (const char* method : {"fedavg", "moon", "plfedcmh"}) {
      Federation stage(base, Inner(method, "gan = false\n")), plain(base, "", method);
      EXPECT_EQ(Largest(stage.Rounds(2).Result() - plain.Rounds(2).Result()), 0)
          << base << ", " << method;
      EXPECT_TRUE(stage.server->facts().empty());
    }
  }
}

TEST(FedWgan, TheInnerMethodsKeysAreInItsOwnTable) {
  Federation stage("ucch", Inner("moon", "gan = false\n") + "[moon]\nmu = 3.0\n");
  Federation same("ucch", "mu = 3.0\n", "moon"), other("ucch", "", "moon");
  const TensorMap result = stage.Rounds(2).Result();
  EXPECT_EQ(Largest(result - same.Rounds(2).Result()), 0);
  EXPECT_GT(Largest(result - other.Rounds(2).Result()), 0);
}

// Random directions are far from clusters of non-negative features: the filter
// lets none through.
TEST(FedWgan, UntrainedGeneratorsChangeNothing) {
  for (const char* base : {"ucch", "dcmh"}) {
    for (const char* method : {"fedavg", "plfedcmh"}) {
      Federation stage(base, Inner(method, "train_generators = false\n")), plain(base, "", method);
      EXPECT_EQ(Largest(stage.Rounds(2).Result() - plain.Rounds(2).Result()), 0);
      Facts facts = stage.server->facts();
      EXPECT_EQ(facts["kept"], 0);
      EXPECT_EQ(facts["synthesised"], 30);
      EXPECT_EQ(facts["generators_used"], 2);
      EXPECT_LT(facts["theta"], 0.1);
      // Without the filter they do change something.
      Federation open(base, Inner(method, "train_generators = false\nfilter = false\n"));
      EXPECT_GT(Largest(open.Rounds(2).Result() - plain.Result()), 1e-4) << base << method;
      EXPECT_EQ(open.server->facts()["kept"], 30);
    }
  }
}

TEST(FedWgan, WrapsMethodsOnBothKindsOfBases) {
  for (const char* base : {"ucch", "dcmh"}) {
    for (const char* method :
         {"fedavg", "fedprox", "moon", "plfedcmh", "pepfch", "fedx", "feduch"}) {
      for (const char* input : {"unit", "raw", "mlp"}) {
        SCOPED_TRACE(std::string(base) + " " + method + " " + input);
        Federation stage(base, Inner(method, "filter = false\n"), "fedwgan", input);
        EXPECT_EQ(FirstNotFinite(stage.Rounds(2).Result()), "");
        Facts facts = stage.server->facts();
        EXPECT_EQ(facts["generators_used"] + facts["generators_left_out"], 2);
        // Linear generators as small as these take longer to be worth sending.
        if (input != std::string("raw")) {
          EXPECT_EQ(facts["kept"], 30);
        }
        EXPECT_TRUE(std::isfinite(stage.clients[0]->facts().at("memorisation_ratio")));
      }
    }
  }
}

// What the hub knows of a silo's weights is what the silo has, although it was
// sent weights that the hub had trained in between.
TEST(FedWgan, APersonalHubKeepsTheSilosRealWeights) {
  for (const char* order : {"sequential", "parallel"}) {
    Federation stage(
        "ucch", Inner("plfedcmh", "filter = false\n") + "[plfedcmh]\norder = '" + order + "'\n");
    stage.Rounds(2);
    for (int i = 0; i < 2; ++i) {
      const TensorMap theta =
          Under("inner/theta/" + std::to_string(i) + "/", stage.server->State());
      EXPECT_LT(Largest(theta - Weights(*stage.models[i])), 1e-5);
    }
    // And the next broadcast is no longer the plain mix.
    Federation plain("ucch", "order = '" + std::string(order) + "'\n", "plfedcmh");
    plain.server->SetState(Under("inner/", stage.server->State()));
    EXPECT_GT(
        Largest(Under("w/", stage.server->Broadcast(1)) - Under("w/", plain.server->Broadcast(1))),
        1e-4);
  }
}

TEST(FedWgan, PairsAreGeneratedInProportionToASilosSamples) {
  Federation stage("ucch", "inner = 'fedavg'\ngan_width = 4\nmu = 0.5\nfilter = false\n", "fedwgan",
                   "unit", {20, 7, 1});
  Facts facts = stage.Rounds(1).server->facts();
  EXPECT_EQ(facts["synthesised"], 10 + 4);  // 3.5 is rounded up; one sample trains none
  EXPECT_EQ(facts["generators_left_out"], 1);
  EXPECT_EQ(stage.clients[2]->facts().at("generator"), 3);
  EXPECT_EQ(Under("synthesis/", stage.sent[2].gathered).size(), 0u);
}

TEST(FedWgan, SendsLabelsOnlyForABaseThatNeedsThem) {
  Federation ucch("ucch", Inner("fedavg")), dcmh("dcmh", Inner("fedavg"));
  EXPECT_FALSE(ucch.Rounds(1).sent[0].gathered.contains("synthesis/labels"));
  const torch::Tensor labels = dcmh.Rounds(1).sent[0].gathered.at("synthesis/labels");
  // Three clusters, three classes: every prototype has one, which one is open.
  EXPECT_TRUE(torch::allclose(std::get<0>(labels.max(1)), torch::ones({3})));
  EXPECT_TRUE(torch::allclose(labels.sum(0), torch::ones({3})));
}

TEST(FedWgan, EverySwitchOfTheAblationChangesSomething) {
  const std::string rows[] = {"cont = false\njsd = false\nfilter = false\n",
                              "jsd = false\nfilter = false\n",
                              "filter = false\n",
                              "theta_rule = 'fixed'\ntheta_fixed = 0.3\n",
                              "contrast = 'literal'\nfilter = false\n",
                              "proto_space = 'hash'\nfilter = false\n",
                              "ucch_steps = 'literal'\nfilter = false\n"};
  std::vector<TensorMap> results;
  for (const std::string& keys : rows) {
    Federation stage("ucch", Inner("fedavg", keys));
    results.push_back(stage.Rounds(2).Result());
    EXPECT_EQ(FirstNotFinite(results.back()), "");
    for (size_t i = 0; i + 1 < results.size(); ++i) {
      EXPECT_GT(Largest(results[i] - results.back()), 0) << rows[i] << " or\n" << keys;
    }
  }
}

// Only an input layer can be moved by the JSD of real pairs: without generated
// pairs nothing else is left of the stage.
TEST(FedWgan, RealPairsAreAlignedThroughTheInputLayer) {
  for (const char* base : {"ucch", "dcmh"}) {
    for (const char* input : {"unit", "mlp"}) {
      const std::string none = "inner = 'fedavg'\ngan_width = 4\nmu = 0.0\ngamma = 5.0\n";
      Federation with(base, none, "fedwgan", input), plain(base, "", "fedavg", input);
      const double moved = Largest(with.Rounds(1).Result() - plain.Rounds(1).Result());
      EXPECT_EQ(moved > 0, std::string(input) == "mlp") << base << ", " << input;
      Federation off(base, none + "jsd = false\n", "fedwgan", input);
      EXPECT_EQ(Largest(off.Rounds(1).Result() - plain.Result()), 0);
    }
  }
}

TEST(FedWgan, ResumedItIsTheSameToTheBit) {
  for (const char* method : {"fedavg", "moon", "plfedcmh", "pepfch"}) {
    for (const char* input : {"unit", "mlp"}) {
      const std::string table = Inner(method, "filter = false\n");
      Federation whole("ucch", table, "fedwgan", input), half("ucch", table, "fedwgan", input);
      Federation again("ucch", table, "fedwgan", input);
      whole.Rounds(3);
      half.Rounds(2);
      again.server->SetState(Copy(half.server->State()));
      for (int i = 0; i < 2; ++i) again.clients[i]->SetState(Copy(half.clients[i]->State()));
      EXPECT_EQ(again.clients[0]->facts(), half.clients[0]->facts());
      EXPECT_EQ(again.server->facts(), half.server->facts());
      again.Round(3);
      EXPECT_EQ(Largest(again.Result() - whole.Result()), 0) << method << ", " << input;
      EXPECT_EQ(Largest(again.clients[1]->State() - whole.clients[1]->State()), 0);
    }
  }
}

TEST(FedWgan, WhatASiloSendsCannotBreakTheHub) {
  Federation stage("ucch", Inner("fedavg", "filter = false\n"));
  stage.Round(1);
  Merged merged{.mean = stage.sent[0].sums, .gathered = {}};
  merged.gathered[0] = stage.sent[0].gathered;
  merged.gathered[0]["synthesis/generator/3.weight"] = torch::ones({2, 2});
  merged.gathered[1] = {{"synthesis/prototypes", torch::ones({3})}};
  stage.server->Merge(merged);
  EXPECT_EQ(Largest(stage.server->Global() - stage.sent[0].sums), 0);
  EXPECT_EQ(stage.server->facts().at("generators_left_out"), 2);
}

// Steps of 1000 throw a linear generator out of all bounds: it is not sent, and
// the next round starts from a new one.
TEST(FedWgan, ADivergedGeneratorIsNotSentAndStartsAnew) {
  Federation stage("ucch", "inner = 'fedavg'\ngan_width = 4\ngan_rate = 1e3\noutput = 'linear'\n");
  Federation plain("ucch", "", "fedavg");
  EXPECT_EQ(Largest(stage.Rounds(1).Result() - plain.Rounds(1).Result()), 0);
  EXPECT_EQ(stage.clients[0]->facts().at("generator"), 2);
  EXPECT_EQ(stage.clients[0]->facts().at("restarts"), 1);
  EXPECT_TRUE(Under("synthesis/generator/", stage.sent[0].gathered).empty());
  EXPECT_EQ(stage.server->facts().at("generators_left_out"), 2);
  EXPECT_LT(Largest(Under("gan/generator/", stage.clients[0]->State())), 1);
}

// With such a bound every generator counts as collapsed, and without steps none
// gets its pairs farther apart.
constexpr const char* kStuck =
    "gan_width = 4\ngan_noise = 4\nprototypes = 3\ngan_rate = 0.0\ncollapse = 1e6\n";

// The second training in a row is followed by a new start, and so is the fourth.
TEST(FedWgan, ACollapsedGeneratorStartsAnewAfterAWhile) {
  Federation stage("ucch", std::string(kStuck) + "patience = 2\n");
  const WganOptions small{.noise = 4, .width = 4};
  for (int round = 1; round <= 4; ++round) {
    stage.Round(round);
    for (int silo = 0; silo < 2; ++silo) {
      Facts facts = stage.clients[silo]->facts();
      EXPECT_EQ(facts["generator"], 1);
      EXPECT_EQ(facts["restarts"], round / 2);
      EXPECT_TRUE(Under("synthesis/generator/", stage.sent[silo].gathered).empty());
      Random random(9, {static_cast<uint64_t>(round), static_cast<uint64_t>(silo)},
                    "generator again");
      const TensorMap anew = NewGenerator({kDims, kDims}, small, random);
      const TensorMap kept = Under("gan/generator/", stage.clients[silo]->State());
      EXPECT_EQ(Largest(kept - anew) == 0, round % 2 == 0) << round;
    }
  }
}

TEST(FedWgan, WithoutPatienceOrTrainingNothingStartsAnew) {
  for (const char* keys : {"patience = 0\n", "patience = 1\ntrain_generators = false\n"}) {
    Federation stage("ucch", std::string(kStuck) + keys);
    EXPECT_EQ(stage.Rounds(4).clients[0]->facts().at("restarts"), 0);
  }
}

TEST(FedWgan, TheCountOfCollapsesSurvivesARestart) {
  const std::string table = std::string(kStuck) + "patience = 2\n";
  Federation whole("ucch", table), half("ucch", table), again("ucch", table);
  whole.Rounds(2);
  half.Rounds(1);
  again.server->SetState(Copy(half.server->State()));
  for (int i = 0; i < 2; ++i) again.clients[i]->SetState(Copy(half.clients[i]->State()));
  again.Round(2);
  EXPECT_EQ(again.clients[0]->facts(), whole.clients[0]->facts());
  EXPECT_EQ(Largest(again.clients[0]->State() - whole.clients[0]->State()), 0);
}

TEST(FedWgan, AGeneratorIsOneLineOfWhatIsSent) {
  int generators = 0;
  for (const Sent& sent : WhatItSends(FindMethod("fedwgan"))) {
    if (sent.what.starts_with("synthesis/generator")) {
      ++generators;
      EXPECT_EQ(sent.what, "synthesis/generator");
      EXPECT_EQ(sent.shape, "8 tensors");
      EXPECT_FALSE(sent.in_sum);
    }
  }
  EXPECT_EQ(generators, 1);
}

TEST(FedWgan, SaysWhichMethodsItCanHold) {
  for (const char* method : {"local", "fedproto", "scaffold", "fednova"}) {
    EXPECT_THAT(Message([&] { Federation("ucch", Inner(method)); }), HasSubstr("fedavg")) << method;
  }
  EXPECT_THAT(Message([&] { Federation("ucch", Inner("fedwgan")); }), HasSubstr("itself"));
  EXPECT_THAT(Message([&] { Federation("ucch", Inner("plfedcmh", "proto_space = 'hash'\n")); }),
              HasSubstr("concat-split"));
  EXPECT_THAT(Message([&] {
                Federation("ucch", Inner("fedavg", "proto_space = 'hash'\n"), "fedwgan", "mlp");
              }),
              HasSubstr("model.input"));
}

}  // namespace
}  // namespace crossilo

#include "crossilo/methods/subspace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// Codes are x W^T + b.  Every step moves every weight by minus the learning
// rate, and its loss is its number of samples.
class Toy final : public HashModel {
 public:
  Toy() : HashModel({2, 2, 2}) {
    Random random(1);
    for (const char* name : {"image.hidden", "image.hash", "text.hidden", "text.hash"}) {
      AddLinear(name, 2, 2, -1, random);
    }
    torch::NoGradGuard no_grad;
    for (const char* name : {"image.hash", "text.hash"}) {
      parameters().at(name + std::string(".weight")).copy_(torch::eye(2));
      parameters().at(name + std::string(".bias")).zero_();
    }
  }
  Encoded Forward(Modality m, const torch::Tensor& x) const override {
    Encoded out;
    out.raw = out.output = ApplyLinear(NameOf(m) + ".hash", x);
    return out;
  }
  int64_t code_dims() const override { return 2; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random, Random) override;

  std::vector<std::set<float>> runs;  // image(i, 0) of what was trained on, by call of BeginRound
  std::set<uint64_t> draws;           // the first of every such call's stream
};

class ToyLearner final : public Learner {
 public:
  ToyLearner(Toy& model, const Silo& silo) : model_(model), silo_(silo) {}
  void BeginRound(Random& random) override {
    model_.runs.emplace_back();
    model_.draws.insert(random.Bits());
  }
  std::vector<Step> PlanEpoch(int, int64_t, Random&) override {
    return {{torch::arange(silo_.size()), {Modality::kImage, Modality::kText}}};
  }
  torch::Tensor Loss(const Step& step, Seen&) override {
    const torch::Tensor x = silo_.all.Select(step.rows).image.select(1, 0);
    for (int64_t i = 0; i < x.size(0); ++i) model_.runs.back().insert(x[i].item<float>());
    torch::Tensor loss = torch::tensor(static_cast<float>(step.rows.size(0)));
    for (const auto& [name, w] : model_.parameters()) loss = loss + (w - w.detach()).sum();
    return loss;
  }

 private:
  Toy& model_;
  const Silo& silo_;
};

std::unique_ptr<Learner> Toy::Learn(const Silo& silo, Random, Random) {
  return std::make_unique<ToyLearner>(*this, silo);
}

// n samples of two classes in turn.
Silo SiloOf(int64_t n, int id = 0) {
  const torch::Tensor labels = torch::eye(2).repeat({(n + 1) / 2, 1}).slice(0, 0, n);
  const torch::Tensor x = torch::stack({torch::arange(n).to(torch::kFloat), torch::ones({n})}, 1);
  return {.id = id, .all = {x, x.clone(), labels, {}}};
}

TrainingOptions Rate(double rate) {
  return {.local_epochs = 2, .batch = 100, .optimizer = {.learning_rate = rate}};
}

Config Table(const std::string& toml = "") { return Config::Parse(toml, "test"); }

// The largest difference of any element.
double Apart(const TensorMap& a, const TensorMap& b) {
  double most = 0;
  for (const auto& [name, x] : a - b) most = std::max(most, x.abs().max().item<double>());
  return most;
}

// One silo of a toy federation.
struct ToySilo {
  explicit ToySilo(const SubspaceOptions& options, int64_t n = 10, double rate = 0.1)
      : silo(SiloOf(n)), client(SubspaceClient({silo, model, Rate(rate), 9}, options)) {}
  Silo silo;
  Toy model;
  std::unique_ptr<Client> client;
};

TensorMap Scalars(double n, double c, double loss, double map) {
  const auto scalar = [](double x) { return torch::full({1}, x, torch::kFloat); };
  return {
      {"samples", scalar(n)}, {"classes", scalar(c)}, {"loss", scalar(loss)}, {"map", scalar(map)}};
}

// The weights that a method's hub gives: silo k sends the k-th unit vector, so
// the mix is the weights.
std::vector<double> Weigh(const std::string& method, const std::string& table,
                          std::vector<TensorMap> sent) {
  const auto server = FindMethod(method).make_server({{}, 3}, Table(table));
  Merged merged;
  const auto K = static_cast<int64_t>(sent.size());
  for (int64_t k = 0; k < K; ++k) {
    sent[k]["w/x"] = torch::eye(K)[k];
    merged.gathered[static_cast<int>(2 * k)] = sent[k];  // silo 1 did not take part
  }
  server->Merge(merged);
  const torch::Tensor x = server->Broadcast(0).at("x");
  std::vector<double> weights;
  for (int64_t k = 0; k < K; ++k) weights.push_back(x[k].item<double>());
  return weights;
}

void ExpectWeights(const std::vector<double>& weights, const std::vector<double>& exponents) {
  ASSERT_EQ(weights.size(), exponents.size());
  double sum = 0;
  for (double e : exponents) sum += std::exp(e);
  for (size_t k = 0; k < weights.size(); ++k) {
    EXPECT_NEAR(weights[k], std::exp(exponents[k]) / sum, 1e-5) << k;
  }
}

// n c = 20, 60: w = 1/4, 3/4.  Losses 3, 5 of mean 4: 0.75, 1.25.
TEST(FedCmr, WeighsAsTheAuthorsCodeDoes) {
  const std::vector<TensorMap> sent = {Scalars(10, 2, 3, 0), Scalars(20, 3, 5, 0)};
  ExpectWeights(Weigh("fedcmr", "", sent),
                {0.25 + 100 * std::exp(-std::exp(0.75)), 0.75 + 100 * std::exp(-std::exp(1.25))});
  ExpectWeights(Weigh("fedcmr", "sharpness = 2.0", sent),
                {0.25 + 2 * std::exp(-std::exp(0.75)), 0.75 + 2 * std::exp(-std::exp(1.25))});
  ExpectWeights(Weigh("fedcmr", "sharpness = 0.0", sent), {0.25, 0.75});
}

// The spec's sensitivity: losses 10% apart, 8.6 - 6.6 = 2.0 in the exponent.
TEST(FedCmr, ATenthLessLossIsSevenTimesTheWeight) {
  const auto f = Weigh("fedcmr", "",
                       {Scalars(9, 2, 0.9, 0), Scalars(9, 2, 1, 0),  //
                        Scalars(9, 2, 1.1, 0)});
  EXPECT_NEAR(f[0] / f[1], 7, 0.5);
  EXPECT_NEAR(f[0] + f[1] + f[2], 1, 1e-6);
}

// n = 10/30, 20/30; c = 2/5, 3/5: Om = 2/15, 2/5.  Psi = e^-0.75, e^-1.25.
// v = 0.6, 0.2: Phi = 3/4, 1/4.
TEST(FedScmr, WeighsByEquations10To13) {
  const std::vector<TensorMap> sent = {Scalars(10, 2, 3, 0.6), Scalars(20, 3, 5, 0.2)};
  const double a = 2.0 / 15 + std::exp(-0.75), b = 0.4 + std::exp(-1.25);
  ExpectWeights(Weigh("fedscmr", "gamma = 2.0", sent), {a + 1.5, b + 0.5});
  ExpectWeights(Weigh("fedscmr", "", sent), {a + 22.5, b + 7.5});
  ExpectWeights(Weigh("fedscmr", "gamma = 0.0", sent), {a, b});
  ExpectWeights(Weigh("fedscmr", "phi = false", sent), {a, b});
}

TEST(Mixing, EqualSilosCountAlike) {
  for (const char* method : {"fedcmr", "fedscmr"}) {
    for (const TensorMap& one : {Scalars(10, 2, 3, 0.6), Scalars(10, 2, 0, 0), Scalars(1, 0, 0, 0),
                                 Scalars(7, 1, -2, 0.1)}) {
      ExpectWeights(Weigh(method, "", {one, one, one}), {0, 0, 0});
      ExpectWeights(Weigh(method, "", {one}), {0});
    }
  }
}

// Psi = e^0 = 1 for both; Phi = 1/2 for both; so Om alone: 1/3, 2/3 by c = 1/2.
TEST(FedScmr, WithoutLossAndMapTheDataDecides) {
  ExpectWeights(Weigh("fedscmr", "", {Scalars(10, 2, 0, 0), Scalars(20, 2, 0, 0)}),
                {1.0 / 6, 1.0 / 3});
}

TEST(Mixing, NoLossGivesNaN) {
  for (const char* method : {"fedcmr", "fedscmr"}) {
    for (double loss : {-1e30, -1.0, 1e-30, 1e30}) {
      const auto f = Weigh(method, "", {Scalars(5, 1, loss, 1), Scalars(5, 1, -0.5 * loss, 0)});
      EXPECT_NEAR(f[0] + f[1], 1, 1e-6) << method << loss;
    }
  }
}

// Two steps of 0.1 took every weight down by 0.2; the reply is 7.
//   7 - 0.5 * (-0.2) = 7.1: against the silo's own update.
TEST(SubspaceClient, TakesHalfOfItsOwnUpdateBack) {
  ToySilo toy({.residual = 0.5});
  const TensorMap before = Weights(toy.model);
  const Update sent = toy.client->Train(1);
  EXPECT_EQ(sent.gathered.size(), 4 + 3);
  TensorMap reply;
  for (const char* name :
       {"image.hash.weight", "image.hash.bias", "text.hash.weight", "text.hash.bias"}) {
    EXPECT_TRUE(torch::allclose(sent.gathered.at("w/" + std::string(name)), before.at(name) - 0.2));
    reply[name] = torch::full_like(before.at(name), 7);
  }
  toy.client->Receive(reply);
  for (const auto& [name, w] : Weights(toy.model)) {
    // Layers that do not travel are as training left them.
    const torch::Tensor expected =
        reply.contains(name) ? torch::full_like(w, 7.1) : before.at(name) - 0.2;
    EXPECT_TRUE(torch::allclose(w, expected)) << name;
  }
}

TEST(SubspaceClient, WithoutALocalUpdateTakesTheMix) {
  ToySilo toy({.all_layers = true, .residual = 0.5}, 10, /*rate=*/0);
  toy.client->Train(1);
  const TensorMap reply = 3 * Weights(toy.model);
  toy.client->Receive(reply);
  for (const auto& [name, w] : Weights(toy.model)) EXPECT_TRUE(torch::equal(w, reply.at(name)));
}

// 12 samples: floor(2.4) = 2 are kept back, ceil(9.6) = 10 train; 2 epochs of
// one step each, whose loss is 10: sum 20, mean 10.
TEST(SubspaceClient, SplitsItsSamplesAnewEveryRound) {
  ToySilo toy({.refine = 0.2, .loss = &TrainingResult::loss_sum}, 12);
  const Update update = toy.client->Train(1);
  EXPECT_EQ(update.gathered.at("loss").item<float>(), 20);
  EXPECT_EQ(update.loss, 10);
  EXPECT_EQ(update.gathered.at("samples").item<float>(), 12);
  EXPECT_EQ(update.gathered.at("classes").item<float>(), 2);
  const TensorMap trained = Weights(toy.model);
  toy.client->Receive(Under("w/", update.gathered));
  // The reply is what was sent: the refinement's two steps are all that moved.
  for (const auto& [name, w] : Weights(toy.model)) {
    EXPECT_TRUE(torch::allclose(w, trained.at(name) - 0.2)) << name;
  }
  toy.client->Receive(Under("w/", toy.client->Train(2).gathered));
  const auto& runs = toy.model.runs;
  ASSERT_EQ(runs.size(), 4u);
  for (int round : {0, 2}) {
    EXPECT_EQ(runs[round].size(), 10u);
    EXPECT_EQ(runs[round + 1].size(), 2u);
    for (float x : runs[round + 1]) EXPECT_FALSE(runs[round].contains(x));
  }
  EXPECT_NE(runs[1], runs[3]);
}

// With momentum 0.9 and gradients 1 the steps are 0.1 times 1, 1.9, 2.71 and
// 3.439: the refinement goes on where the training stopped.  A new round starts
// over.
TEST(SubspaceClient, RefinesWithTheMomentsAndAStreamOfItsOwn) {
  const Silo silo = SiloOf(10);
  Toy model;
  TrainingOptions training = Rate(0.1);
  training.optimizer.momentum = 0.9;
  const auto client = SubspaceClient({silo, model, training, 9}, {.refine = 0.2});
  for (int round : {1, 2}) {
    const TensorMap before = Weights(model);
    const Update update = client->Train(round);
    EXPECT_NEAR(Apart(Weights(model), before), 0.29, 1e-5);
    client->Receive(Under("w/", update.gathered));
    EXPECT_NEAR(Apart(Weights(model), before), 0.29 + 0.6149, 1e-5);
  }
  EXPECT_EQ(model.draws.size(), 4u);
}

// 12 samples in 2 epochs of one step.  FedCMR trains on 10 of them, sends the
// sum of the losses and takes half of its 0.2 back; then 2 more steps.  FedSCMR
// trains on all, sends the last epoch's loss and takes the mix as it is.
TEST(Subspace, TheMethodsComeWithTheirPapersSettings) {
  for (const auto& [method, loss, moved] :
       {std::tuple("fedcmr", 20, -0.2 + 0.1 - 0.2), std::tuple("fedscmr", 12, -0.2)}) {
    const Silo silo = SiloOf(12);
    Toy model;
    const auto client = FindMethod(method).make_client({silo, model, Rate(0.1), 9}, Table());
    const TensorMap before = Weights(model);
    const TensorMap sent = client->Train(1).gathered;
    EXPECT_EQ(sent.at("loss").item<float>(), loss);
    client->Receive(Under("w/", sent));
    const torch::Tensor w = Weights(model).at("image.hash.weight");
    EXPECT_TRUE(torch::allclose(w, before.at("image.hash.weight") + moved, 1e-5, 1e-6)) << method;
  }
}

TEST(SubspaceClient, TooSmallToSplitTrainsOnAll) {
  ToySilo toy({.residual = 0.5, .refine = 0.2}, 4);  // floor(0.8) = 0
  const Update update = toy.client->Train(1);
  EXPECT_EQ(update.loss, 4);
  toy.client->Receive(Under("w/", update.gathered));
  EXPECT_EQ(toy.model.runs.size(), 1u);
}

TEST(SubspaceClient, ValidationSamplesNeverTrain) {
  std::set<float> measured;
  SubspaceOptions options{.refine = 0.2, .validation = 0.3};
  options.score = [&](const HashModel&, const Batch& samples) {
    for (int64_t i = 0; i < samples.size(); ++i) {
      measured.insert(samples.image[i][0].item<float>());
    }
    return 0.25;
  };
  ToySilo toy(options, 20);
  for (int round : {1, 2}) {
    const Update update = toy.client->Train(round);
    EXPECT_EQ(update.gathered.at("map").item<float>(), 0.25f);
    EXPECT_EQ(update.gathered.at("samples").item<float>(), 14);
    toy.client->Receive(Under("w/", update.gathered));
  }
  EXPECT_EQ(measured.size(), 6u);  // the same in both rounds
  for (const auto& run : toy.model.runs) {
    for (float x : run) EXPECT_FALSE(measured.contains(x)) << x;
  }
}

TEST(SubspaceClient, MeasuresAtMostAThousandSamples) {
  int64_t size = 0;
  SubspaceOptions options;
  options.score = [&](const HashModel&, const Batch& samples) { return size = samples.size(); };
  ToySilo(options, 1200).client->Train(1);
  EXPECT_EQ(size, 1000);
  ToySilo(options, 1).client->Train(1);
  EXPECT_EQ(size, 1);
}

TEST(SubspaceClient, AReplyOfAnotherModelIsRefused) {
  ToySilo toy({});
  EXPECT_THROW(toy.client->Receive({{"common.weight", torch::ones({2, 2})}}), Error);
}

double MapOf(const torch::Tensor& image, const torch::Tensor& text, const torch::Tensor& labels,
             const std::string& table = "") {
  Silo silo{.all = {image, text, labels, {}}};
  Toy model;
  const auto client = FindMethod("fedscmr").make_client({silo, model, Rate(0), 9}, Table(table));
  const TensorMap sent = client->Train(1).gathered;
  return sent.contains("map") ? sent.at("map").item<double>() : -1;
}

TEST(FedScmr, MeasuresTheMapOfBothDirections) {
  const torch::Tensor labels = torch::eye(2).repeat({3, 1});
  EXPECT_EQ(MapOf(labels, labels, labels), 1);
  // Every text stands at the other class: the three relevant of six come last,
  // (1/4 + 2/5 + 3/6) / 3.
  EXPECT_NEAR(MapOf(labels, 1 - labels, labels), (1.0 / 4 + 2.0 / 5 + 3.0 / 6) / 3, 1e-6);
  // The text of class 1 leans to class 0: both images find theirs first, that
  // text finds its image second.  (1 + (1 + 1/2) / 2) / 2.
  EXPECT_NEAR(MapOf(torch::eye(2), torch::tensor({{1.0f, 0.0f}, {1.0f, 0.5f}}), torch::eye(2)),
              0.875, 1e-6);
  // Without labels a sample's own pair is relevant.
  EXPECT_EQ(MapOf(torch::eye(2), torch::eye(2), {}), 1);
  EXPECT_EQ(MapOf(torch::eye(2), 1 - torch::eye(2), {}), 0.5);
  EXPECT_EQ(MapOf(labels, labels, labels, "phi = false"), -1);
}

// Two silos of 12 and 20 samples with a real base.
struct Federation {
  explicit Federation(const std::string& base) {
    const std::string sizes =
        base == "dcmh" ? "bits = 16\nhidden_image = 4\nhidden_text = 4" : "dims = 4\nhidden = 4";
    for (int id : {0, 1}) {
      Random random(3, {static_cast<uint64_t>(id)});
      const int64_t n = id == 0 ? 12 : 20;
      silos[id] = SiloOf(n, id);
      silos[id].all.image = RandomNormal({n, 2}, random);
      silos[id].all.text = RandomNormal({n, 2}, random);
      models[id] = FindModel(base).make({2, 2, 2}, Table(sizes), Random(2));
    }
    training = {.rounds = 3, .local_epochs = 2, .batch = 5, .keep_optimizer = true};
    training.optimizer = {.kind = "adam", .learning_rate = 0.01};
  }
  void Join(const Method& method, const std::string& table) {
    for (int id : {0, 1}) {
      clients[id] = method.make_client({silos[id], *models[id], training, 9, 2}, Table(table));
    }
    server = method.make_server({Weights(*models[0]), 2}, Table(table));
  }
  void Round(int round, const std::vector<int>& who = {0, 1}) {
    Merged merged;
    double total = 0;
    for (int id : who) {
      if (server->exchange() != Exchange::kReplied) clients[id]->Receive(server->Broadcast(id));
      const Update update = clients[id]->Train(round);
      merged.gathered[id] = update.gathered;
      const TensorMap share = update.weight * update.sums;
      merged.mean = merged.mean.empty() ? share : merged.mean + share;
      total += update.weight;
    }
    merged.mean = (1 / total) * merged.mean;
    server->Merge(merged);
    if (server->exchange() != Exchange::kReplied) return;
    for (int id : who) clients[id]->Receive(server->Broadcast(id));
  }

  Silo silos[2];
  std::unique_ptr<HashModel> models[2];
  TrainingOptions training;
  std::unique_ptr<Client> clients[2];
  std::unique_ptr<Server> server;
};

TEST(Subspace, AllLayersBySamplesIsFedAvg) {
  Federation a("dcmh"), b("dcmh");
  a.Join(FindMethod("fedavg"), "");
  for (int id : {0, 1}) {
    b.clients[id] =
        SubspaceClient({b.silos[id], *b.models[id], b.training, 9}, {.all_layers = true});
  }
  const TensorMap initial = Weights(*b.models[0]);
  b.server = SubspaceServer({initial, 2}, true, [](const std::vector<Contribution>& all) {
    return Shares(Each(all, &Contribution::samples));
  });
  EXPECT_EQ(Apart(b.server->Global(), initial), 0);
  for (int round : {1, 2, 3}) {
    a.Round(round);
    b.Round(round);
  }
  EXPECT_GT(Apart(a.server->Global(), initial), 1e-3);
  EXPECT_LT(Apart(a.server->Global(), b.server->Global()), 1e-6);
}

TEST(Subspace, ASiloThatIsMissingStaysAsItIs) {
  Federation f("dscmr");
  f.Join(FindMethod("fedscmr"), "");
  f.Round(1);
  const TensorMap before = Weights(*f.models[1]);
  f.Round(2, {0});
  EXPECT_EQ(Apart(Weights(*f.models[1]), before), 0);
  // Alone, silo 0 has weight 1: the mix is its own.
  EXPECT_TRUE(torch::equal(f.server->Broadcast(0).at("common.weight"),
                           Weights(*f.models[0]).at("common.weight")));
  f.Round(3);
  EXPECT_EQ(f.server->Broadcast(1).size(), 2u);  // common.weight and common.bias
  EXPECT_TRUE(torch::equal(Weights(*f.models[0]).at("common.weight"),
                           Weights(*f.models[1]).at("common.weight")));
  EXPECT_FALSE(torch::equal(Weights(*f.models[0]).at("image.own.weight"),
                            Weights(*f.models[1]).at("image.own.weight")));
}

TEST(Subspace, TheGlobalModelExistsWhereAllLayersTravel) {
  for (const auto& [method, table, global] :
       {std::tuple("fedcmr", "", true), std::tuple("fedcmr", "layers = 'last'", false),
        std::tuple("fedscmr", "", false), std::tuple("fedscmr", "agg = 'all'", true)}) {
    Federation f("dcmh");
    f.Join(FindMethod(method), table);
    EXPECT_EQ(f.server->Global().empty(), !global) << method << table;
    f.Round(1);
    EXPECT_EQ(f.server->Global().size(), global ? f.models[0]->parameters().size() : 0);
    EXPECT_EQ(f.server->Broadcast(0).size(), global ? f.models[0]->parameters().size() : 4);
    EXPECT_EQ(FirstNotFinite(Weights(*f.models[0])), "");
  }
}

TEST(Subspace, AResumedRunIsTheSameToTheBit) {
  for (const auto& [method, table] :
       {std::pair("fedcmr", ""), std::pair("fedcmr", "layers = 'last'"),
        std::pair("fedscmr", "residual = 'fedcmr'\nvalidation = 0.2")}) {
    for (bool keep : {true, false}) {
      Federation whole("dcmh"), resumed("dcmh");
      whole.training.keep_optimizer = resumed.training.keep_optimizer = keep;
      whole.Join(FindMethod(method), table);
      resumed.Join(FindMethod(method), table);
      whole.Round(1);
      for (int id : {0, 1}) resumed.clients[id]->SetState(Copy(whole.clients[id]->State()));
      resumed.server->SetState(Copy(whole.server->State()));
      whole.Round(2);
      resumed.Round(2);
      for (int id : {0, 1}) {
        EXPECT_EQ(Apart(Weights(*whole.models[id]), Weights(*resumed.models[id])), 0) << method;
        EXPECT_EQ(Apart(whole.clients[id]->State(), resumed.clients[id]->State()), 0) << method;
      }
      EXPECT_EQ(Apart(whole.server->Broadcast(0), resumed.server->Broadcast(0)), 0) << method;
    }
  }
}

// A silo of one sample, as the one that ReadExperiment reads the keys with.
TEST(Subspace, OneSampleIsEnough) {
  for (const char* method : {"fedcmr", "fedscmr"}) {
    const Silo silo = SiloOf(1);
    Toy model;
    const auto client =
        FindMethod(method).make_client({silo, model, Rate(0.1), 9}, Table("validation = 0.9"));
    const auto server = FindMethod(method).make_server({Weights(model), 1}, Table());
    const Update update = client->Train(1);
    EXPECT_EQ(FirstNotFinite(update.gathered), "");
    server->Merge({{}, {{0, update.gathered}}});
    client->Receive(server->Broadcast(0));
    EXPECT_EQ(FirstNotFinite(Weights(model)), "");
  }
}

}  // namespace
}  // namespace crossilo

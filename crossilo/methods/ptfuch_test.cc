#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/methods/method.h"
#include "crossilo/methods/ptfuch_losses.h"
#include "crossilo/methods/relational.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

torch::Tensor Rows(std::initializer_list<std::initializer_list<float>> rows) {
  std::vector<torch::Tensor> all;
  for (const auto& row : rows) all.push_back(torch::tensor(std::vector<float>(row)));
  return torch::stack(all);
}

// Logits of sample 0 (class 0): image (2 - .001, 0), text (1 - .001, 1); of
// sample 1 (class 1): image (0, 3 - .001), text (-1, 0 - .001).  A softmax over
// two costs log(1 + e^(other - own)).
TEST(PtFuchLosses, ClusterLossWorkedByHand) {
  const auto cost = [](double other, double own) { return std::log1p(std::exp(other - own)); };
  const double image = (cost(0, 1.999) + cost(0, 2.999)) / 2;
  const double text = (cost(1, 0.999) + cost(-1, -0.001)) / 2;
  const double loss = ClusterLoss(Rows({{2, 0}, {0, 3}}), Rows({{1, 1}, {-1, 0}}), torch::eye(2),
                                  torch::tensor({0, 1}))
                          .item<double>();
  EXPECT_NEAR(loss, image + text, 1e-6);
}

// Shorter centroids make smaller logits: C = (0.5, 0), (0, 1), hid = (2, 0)
// twice, class 0: logits (1 - .001, 0).
TEST(PtFuchLosses, ClusterLossReadsTheLengthOfCentroids) {
  const torch::Tensor hid = Rows({{2, 0}});
  const double loss =
      ClusterLoss(hid, hid, Rows({{0.5, 0}, {0, 1}}), torch::tensor({0})).item<double>();
  EXPECT_NEAR(loss, 2 * std::log1p(std::exp(-0.999)), 1e-6);
}

// Student: I = T = (e1, e2), all four products are the identity.  Teacher: I =
// (e1, e1), T = (e1, e2):  I I^T = 1 everywhere, off by 1 at 2 of 4: 1/2;
// T T^T: 0;  I T^T = ((1, 0), (1, 0)), off by 1 at 2 of 4: 1/2;  T I^T: 1/2.
TEST(PtFuchLosses, DistillationWorkedByHand) {
  const torch::Tensor student = Rows({{1, 0}, {0, 1}}), I_t = Rows({{3, 0}, {7, 0}});
  EXPECT_NEAR(DistillationLoss(2 * student, student, I_t, 5 * student).item<double>(), 1.5, 1e-6);
  EXPECT_NEAR(DistillationLoss(student, student, student, 3 * student).item<double>(), 0, 1e-12);
}

// 3 / 2; d/da (a / b) = 1 / b = 1/2, d/db = -a / b^2 = -3/4.
TEST(PtFuchLosses, TheAdaptiveWeightHasAGradientToo) {
  const torch::Tensor a = torch::tensor(3.f, torch::requires_grad());
  const torch::Tensor b = torch::tensor(2.f, torch::requires_grad());
  const torch::Tensor ratio = Adaptive(a, b);
  EXPECT_NEAR(ratio.item<double>(), 1.5, 1e-6);
  const auto gradient = torch::autograd::grad({ratio}, {a, b});
  EXPECT_NEAR(gradient[0].item<double>(), 0.5, 1e-6);
  EXPECT_NEAR(gradient[1].item<double>(), -0.75, 1e-6);
  EXPECT_NEAR(Adaptive(a, torch::tensor(0.f)).item<double>(), 3e6, 1);
}

// {(1, 0), (.8, .6)} and {(-1, 0)}: the first mean is (.9, .3), of length .949.
TEST(PtFuchLosses, CentroidsAreMeansNotDirections) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const Clustering c = ClusterRows(Rows({{1, 0}, {0.8, 0.6}, {-1, 0}}), 2, 100, random);
    const int64_t first = c.labels[0].item<int64_t>();
    EXPECT_EQ(c.labels[1].item<int64_t>(), first);
    EXPECT_NE(c.labels[2].item<int64_t>(), first);
    EXPECT_TRUE(torch::allclose(c.centroids[first], torch::tensor({0.9f, 0.3f})));
  }
}

TEST(PtFuchLosses, FewerRowsThanClustersAreTheirOwn) {
  Random random(1);
  const torch::Tensor rows = Rows({{1, 0}, {0, 1}});
  const Clustering c = ClusterRows(rows, 24, 100, random);
  EXPECT_TRUE(torch::equal(c.centroids.index_select(0, c.labels), rows));
  EXPECT_EQ(ClusterRows(rows.slice(0, 0, 0), 24, 100, random).centroids.size(0), 0);
}

TEST(PtFuchLosses, TheQueueHoldsTheLastFullBatch) {
  BatchQueue queue(2);
  const torch::Tensor full = Rows({{1, 2}, {3, 4}}), part = Rows({{5, 6}});
  EXPECT_TRUE(torch::equal(queue.Before(part), Rows({{0, 0}, {0, 0}, {5, 6}})));
  EXPECT_TRUE(torch::equal(queue.Before(full), full));
  EXPECT_TRUE(torch::equal(queue.Before(part), Rows({{1, 2}, {3, 4}, {5, 6}})));
  EXPECT_TRUE(torch::equal(queue.Before(part), Rows({{1, 2}, {3, 4}, {5, 6}})));
}

double Largest(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

// One silo with a client.
struct Bench {
  Bench(const std::string& method, const std::string& table, TrainingOptions training = Usual(),
        int64_t n = 20, const std::string& base = "ucch") {
    Random random(1);
    silo.all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random),
                torch::eye(2).repeat({(n + 1) / 2, 1}).slice(0, 0, n)};
    const std::string sizes = FindModel(base).real_valued
                                  ? "dims = 6\nhidden = 5\n"
                                  : "bits = 16\nhidden_image = 4\nhidden_text = 4\nnegatives = 8\n";
    model = FindModel(base).make({3, 3, 2}, Config::Parse(sizes, "test"), Random(2));
    initial = Weights(*model);
    client =
        FindMethod(method).make_client({silo, *model, training, 9}, Config::Parse(table, "test"));
  }
  static TrainingOptions Usual() { return {.local_epochs = 2, .batch = 8}; }

  Update Round(int round, const TensorMap& w, const torch::Tensor& P_g = {}) {
    TensorMap broadcast = Prefixed("w/", w);
    if (P_g.defined()) broadcast["prototypes"] = P_g;
    client->Receive(broadcast);
    return client->Train(round);
  }
  Seen EncodeAt(const TensorMap& w) {
    const TensorMap now = Weights(*model);
    SetWeights(*model, w);
    const Seen seen{model->Encode(Modality::kImage, silo.all.image),
                    model->Encode(Modality::kText, silo.all.text)};
    SetWeights(*model, now);
    return seen;
  }
  TensorMap Other() const {  // weights that nobody has
    Random random(8);
    TensorMap w;
    for (const auto& [name, x] : initial) w[name] = x + 0.3 * RandomNormal(x.sizes(), random);
    return w;
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
  TensorMap initial;
  std::unique_ptr<Client> client;
};

// A round of FedAvg from the weights `w`.
Update FedAvgRound(int round, const TensorMap& w, TrainingOptions training, int64_t n) {
  Bench avg("fedavg", "", training, n);
  avg.client->Receive(w);
  return avg.client->Train(round);
}

// Four samples, fewer than prototypes: each is its own cluster, so C = fused.
// One step on all of them, in UCCH's warm-up, which draws nothing; its loss is
// that of FedAvg's step from the same weights.
TEST(PtFuch, ThePrivateLossIsTheSumOfItsTerms) {
  const TrainingOptions whole{.local_epochs = 1, .batch = 4};
  Bench pt("ptfuch", "", whole, 4);
  const TensorMap global = pt.Other();
  const Seen s = pt.EncodeAt(pt.initial), t = pt.EncodeAt(global);
  const torch::Tensor L_clu =
      ClusterLoss(s.image.raw, s.text.raw, Fused(s.image.raw, s.text.raw), torch::arange(4));
  const torch::Tensor L_kd_s =
      DistillationLoss(s.image.output, s.text.output, t.image.output, t.text.output);
  pt.Round(1, global);
  EXPECT_GT(L_kd_s.item<double>(), 0.01);
  EXPECT_NEAR(pt.client->facts().at("private loss"),
              FedAvgRound(1, pt.initial, whole, 4).loss + (L_clu + L_kd_s / L_clu).item<double>(),
              1e-4);
}

// Again one step on the whole silo; local prototypes are its samples.
TEST(PtFuch, TheSharedLossGainsBothRelations) {
  const TrainingOptions whole{.local_epochs = 1, .batch = 6};
  for (const char* local : {"batch", "silo"}) {
    Bench pt("ptfuch", "text_phase = false\nlocal_prototypes = '" + std::string(local) + "'\n",
             whole, 6);
    Random random(4);
    const torch::Tensor P_g = RandomNormal({3, 16}, random);
    const TensorMap global = pt.Other();
    const Seen s = pt.EncodeAt(global);
    const Update update = pt.Round(2, global, P_g);
    const auto JS = [&](const torch::Tensor& P) {
      return RelationalLoss(s.image.raw, s.text.raw, P, 0.26, 0.81).item<double>();
    };
    const double gained = update.loss - FedAvgRound(2, global, whole, 6).loss;
    EXPECT_GT(JS(P_g), 0.01);
    EXPECT_NEAR(gained, JS(P_g) + JS(update.gathered.at("prototypes")), 1e-4) << local;
  }
}

TEST(PtFuch, WithoutGlobalPrototypesTheSharedPhaseIsFedAvgs) {
  Bench pt("ptfuch", "text_phase = false\n");
  const Update avg = FedAvgRound(1, pt.initial, Bench::Usual(), 20);
  EXPECT_EQ(Largest(pt.Round(1, pt.initial).sums - avg.sums), 0);
  Bench guided("ptfuch", "text_phase = false\n");
  EXPECT_GT(Largest(guided.Round(1, pt.initial, torch::eye(16)).sums - avg.sums), 1e-5);
}

TEST(PtFuch, TheTextPhaseMovesOnlyText) {
  Bench with("ptfuch", ""), without("ptfuch", "text_phase = false\n");
  const TensorMap moved = with.Round(1, with.initial).sums - without.Round(1, without.initial).sums;
  for (const auto& [name, change] : moved) {
    const double largest = change.abs().max().item<double>();
    EXPECT_EQ(largest > 0, name.starts_with("text.")) << name;
  }
}

TEST(PtFuch, PrivateWeightsStayAndSurvive) {
  Bench a("ptfuch", ""), b("ptfuch", "");
  const torch::Tensor P_g = torch::eye(16).slice(0, 0, 5);
  for (int round : {1, 2}) {
    const Update update = a.Round(round, a.initial, P_g);
    EXPECT_TRUE(update.gathered.size() == 1 && update.gathered.count("prototypes") == 1);
    ASSERT_EQ(update.sums.size(), a.initial.size());
    const TensorMap theta_p = Under("private/", a.client->State());
    for (const auto& [name, w] : update.sums) {
      EXPECT_FALSE(torch::allclose(w, theta_p.at(name), 0, 1e-6)) << name;
    }
  }
  const TensorMap state = a.client->State(), before = Copy(state);
  b.client->SetState(state);
  const Update x = a.Round(3, a.initial, P_g), y = b.Round(3, b.initial, P_g);
  EXPECT_EQ(Largest(x.sums - y.sums), 0);
  EXPECT_EQ(Largest(x.gathered - y.gathered), 0);
  EXPECT_EQ(Largest(a.client->State() - b.client->State()), 0);
  EXPECT_EQ(Largest(state - before), 0) << "a state goes on training";
  EXPECT_GT(Largest(Under("private/", a.client->State()) - Under("private/", state)), 0);
}

TEST(PtFuch, OptionsChangeWhatTheySay) {
  const torch::Tensor P_g = torch::eye(16).slice(0, 0, 5);
  Bench usual("ptfuch", "prototypes = 3\n");
  const Update reference = usual.Round(1, usual.initial, P_g);
  EXPECT_EQ(reference.weight, 1);
  EXPECT_EQ(reference.gathered.at("prototypes").size(0), 3);
  for (const char* table : {"restart = 'round'", "local_prototypes = 'silo'", "queue = 'literal'",
                            "t = 0.5", "t2 = 0.3", "private_epochs = 5", "global_epochs = 5"}) {
    Bench other("ptfuch", "prototypes = 3\n" + std::string(table) + "\n");
    EXPECT_GT(Largest(other.Round(1, usual.initial, P_g).sums - reference.sums), 1e-7) << table;
  }
  Bench samples("ptfuch", "weights = 'samples'\n");
  EXPECT_EQ(samples.Round(1, samples.initial).weight, 20);
}

// In its first round a silo is its own only teacher: one sample has one
// cluster, three have three.
TEST(PtFuch, TinySilosOfEveryBaseStayFinite) {
  for (const ModelKind& kind : AllModels()) {
    for (int64_t n : {1, 3}) {
      for (const char* queue : {"none", "literal"}) {
        Bench pt("ptfuch", "queue = '" + std::string(queue) + "'\n", Bench::Usual(), n, kind.name);
        const torch::Tensor P = pt.Round(1, pt.initial).gathered.at("prototypes");
        EXPECT_EQ(P.size(0), n) << kind.name;
        const Update update = pt.Round(2, pt.Other(), P);
        EXPECT_EQ(FirstNotFinite(update.sums), "") << kind.name;
        EXPECT_EQ(FirstNotFinite(update.gathered), "") << kind.name;
        EXPECT_EQ(FirstNotFinite(pt.client->State()), "") << kind.name;
      }
    }
  }
}

TEST(PtFuch, MomentsAreNeverKeptForTheOtherModel) {
  TrainingOptions kept = Bench::Usual();
  kept.keep_optimizer = true;
  Bench fresh("ptfuch", ""), asked("ptfuch", "", kept);
  const torch::Tensor P = fresh.Round(1, fresh.initial).gathered.at("prototypes");
  asked.Round(1, asked.initial);
  const TensorMap a = fresh.Round(2, fresh.Other(), P).sums;
  const TensorMap b = asked.Round(2, asked.Other(), P).sums;
  for (const auto& [name, w] : a) EXPECT_TRUE(b.at(name).equal(w)) << name;
}

std::unique_ptr<Server> MakeServer(const std::string& table) {
  return FindMethod("ptfuch").make_server({{{"w", torch::tensor({1.f})}}, 2},
                                          Config::Parse(table, "test"));
}

// Directions (1, 0) and (0, 1) of silo 0, (.28, .96) and (1, 0) of silo 1; a
// row of zeros and one that is not finite say nothing.  The clusters' means:
// (1, 0) and ((0, 1) + (.28, .96)) / 2 = (.14, .98).
TEST(PtFuch, TheHubClustersTheDirectionsOfAllPrototypes) {
  auto server = MakeServer("prototypes = 2\n");
  EXPECT_EQ(server->Broadcast(0).size(), 1u);
  const float nan = std::nanf("");
  server->Merge({.mean = {{"w", torch::tensor({2.5f})}},
                 .gathered = {{0, {{"prototypes", Rows({{2, 0}, {0, 3}, {nan, 1}})}}},
                              {1, {{"prototypes", Rows({{7, 24}, {0, 0}, {5, 0}})}}}}});
  const TensorMap sent = server->Broadcast(0);
  EXPECT_EQ(sent.at("w/w").item<float>(), 2.5f);
  EXPECT_EQ(server->Global().at("w").item<float>(), 2.5f);
  torch::Tensor P = sent.at("prototypes");
  if (P[0][0].item<float>() < P[1][0].item<float>()) P = P.flip(0);
  EXPECT_TRUE(torch::allclose(P, Rows({{1, 0}, {0.14, 0.98}}))) << P;

  auto again = MakeServer("prototypes = 2\n");
  again->SetState(server->State());
  EXPECT_TRUE(torch::equal(again->Broadcast(1).at("prototypes"), sent.at("prototypes")));
  // Nothing to cluster: the last prototypes stay.
  again->Merge({.mean = sent, .gathered = {{0, {{"prototypes", torch::zeros({2, 2})}}}}});
  EXPECT_TRUE(torch::equal(again->Broadcast(1).at("prototypes"), sent.at("prototypes")));
}

}  // namespace
}  // namespace crossilo

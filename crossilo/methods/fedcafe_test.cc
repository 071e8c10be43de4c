#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/methods/fedcafe_losses.h"
#include "crossilo/methods/memory.h"
#include "crossilo/methods/method.h"
#include "crossilo/models/encode.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

const char* kAllOff = "afe = false\nl_e = false\nl_c = false\nl_p = false\nwa = false\n";

// One silo of 20 pairs in two classes, with a model of 16 bits.
struct Bench {
  explicit Bench(const std::string& method, const std::string& text, double rate = 0.1) {
    Random random(1);
    silo.all = {RandomNormal({20, 3}, random), RandomNormal({20, 3}, random),
                torch::eye(2).repeat({10, 1})};
    model = FindModel("dcmh").make(
        {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
        Random(2));
    const Config table = Config::Parse(text, "test");
    const Method& m = FindMethod(method);
    if (m.prepare != nullptr) m.prepare(*model, table, 9);
    TrainingOptions training{.local_epochs = 1, .batch = 20};
    training.optimizer.learning_rate = rate;
    client = m.make_client({silo, *model, training, 9, 4}, table);
    server = m.make_server({Weights(*model), 1, {3, 3, 2}, 16, 9}, table);
  }
  Update Round(int round) {
    client->Receive(server->Broadcast(0));
    const Update update = client->Train(round);
    server->Merge({.mean = update.sums, .gathered = {{0, update.gathered}}});
    return update;
  }
  torch::Tensor Code(Modality m) const {
    return EncodeAll(*model, m, m == Modality::kImage ? silo.all.image : silo.all.text,
                     &Encoded::code);
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
  std::unique_ptr<Client> client;
  std::unique_ptr<Server> server;
};

double Gap(const torch::Tensor& a, const torch::Tensor& b) {
  return (1 - torch::cosine_similarity(a, b, 1)).mean().item<double>();
}

TEST(FedCafe, AllSwitchesOffIsFedAvgToTheBit) {
  Bench cafe("fedcafe", kAllOff), avg("fedavg", "");
  for (int round = 1; round <= 3; ++round) {
    const Update a = cafe.Round(round), b = avg.Round(round);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.weight, b.weight);
    EXPECT_TRUE(a.gathered.empty());
  }
  const TensorMap a = cafe.server->Global(), b = avg.server->Global();
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, w] : b) EXPECT_TRUE(torch::equal(a.at(name), w)) << name;
}

TEST(FedCafe, LossesByHand) {
  const torch::Tensor O = torch::tensor({{1.0f, 0.0f}, {1.0f, 1.0f}});
  const torch::Tensor other = UnitRows(torch::tensor({{0.0f, 2.0f}, {3.0f, 3.0f}}));
  const CafeLoss c = CafeTerms({.O = O, .globally = other}, {.eta = 2});
  EXPECT_NEAR(c.l_c, (1 - 0 + 1 - 1) / 2.0, 1e-6);
  EXPECT_NEAR(c.sum.item<double>(), 2 * c.l_c, 1e-6);
  // softmax(0, log 3) = (1/4, 3/4), labels (1, 1) and (0, 1); b C = 4
  const float z = std::log(3.0f);
  const torch::Tensor logits = torch::tensor({{0.0f, z}, {0.0f, z}});
  const torch::Tensor labels = torch::tensor({{1.0f, 1.0f}, {0.0f, 1.0f}});
  const double q = std::log(0.25), p = std::log(0.75);
  CafeBatch batch{.O = O, .logits = logits, .labels = labels};
  EXPECT_NEAR(CafeTerms(batch, {.gamma = 1}).l_p, -(q + p + p) / 4, 1e-6);
  // KL((1/2, 1/2), Lhat) = log 1/2 - (q + p)/2;  KL((0, 1), Lhat) = -p
  EXPECT_NEAR(CafeTerms(batch, {.gamma = 1, .normalised_kl = true}).l_p,
              (std::log(0.5) - (q + p) / 2 - p) / 2, 1e-6);
  // P_g = ((4, 0), (0, 4)): V_m = (1, 3), V_E of row 0 = (1 + tanh 1, 0): no angle;
  // of row 1 = (1 + t, 1 + 3 t), O = (1, 1): cos = (2 + 4 t) / (sqrt 2 |V_E|)
  batch.memory = 4 * torch::eye(2);
  const double t = std::tanh(1.0);
  const double cos = (2 + 4 * t) / (std::sqrt(2.0) * std::hypot(1 + t, 1 + 3 * t));
  EXPECT_NEAR(CafeTerms(batch, {.alpha = 1}).l_e, (0 + 1 - cos) / 2, 1e-6);
}

// Autograd on the plain formulas is the judge of the closed form.
TEST(FedCafe, GradientsAreThoseOfThePlainFormulas) {
  Random random(4);
  const auto normal = [&](int64_t n, int64_t d) { return RandomNormal({n, d}, random); };
  const torch::Tensor P = normal(3, 5), u = UnitRows(normal(4, 5));
  const torch::Tensor labels = torch::eye(3).index_select(0, torch::tensor({0, 2, 2, 1}));
  for (bool normalised : {false, true}) {
    for (bool enhanced : {true, false}) {
      const torch::Tensor O = normal(4, 5).set_requires_grad(true);
      const torch::Tensor Z = normal(4, 3).set_requires_grad(true);
      CafeBatch batch{O, Z, enhanced ? P : torch::Tensor(), u, labels};
      const CafeLoss ours = CafeTerms(batch, {0.7, 0.9, 1.3, normalised});
      const auto got = torch::autograd::grad({2 * ours.sum}, {O, Z});

      const torch::Tensor V = enhanced ? O + torch::tanh(O) * torch::softmax(Z, 1).mm(P) : O;
      const torch::Tensor l_e = 1 - torch::cosine_similarity(V, O, 1).mean();
      const torch::Tensor l_c = 1 - (UnitRows(V) * u).sum(1).mean();
      const torch::Tensor log_Lhat = torch::log_softmax(Z, 1);
      const torch::Tensor l_p =
          normalised ? -(labels * log_Lhat).sum(1).mean() : -(labels * log_Lhat).mean();
      const torch::Tensor plain = (enhanced ? 0.7 : 0) * l_e + 0.9 * l_c + 1.3 * l_p;
      EXPECT_NEAR(ours.sum.item<double>(), plain.item<double>(), 1e-5);
      const auto want = torch::autograd::grad({2 * plain}, {O, Z});
      for (int i : {0, 1}) EXPECT_TRUE(torch::allclose(got[i], want[i], 1e-4, 1e-5)) << i;
    }
  }
  // A row of zeros has no direction, and no NaN either.
  const torch::Tensor zero = torch::zeros({2, 5}).set_requires_grad(true);
  const CafeLoss loss = CafeTerms({.O = zero, .globally = u.slice(0, 0, 2)}, {.eta = 1});
  EXPECT_EQ(torch::autograd::grad({loss.sum}, {zero})[0].abs().sum().item<double>(), 0);
}

// At a rate of 0 the losses of runs that differ in one switch differ by that
// term.  In round 1 the received model is the local one, so the image's L_C is
// 1/2 (1 - cos(x, x)) + 1/2 (1 - cos(x, y)), and the text's is as much.
TEST(FedCafe, ConsistencyTermIsTheHalfGapBetweenModalitiesAtFirst) {
  Bench with("fedcafe", "afe = false\nl_e = false\nl_p = false\neta = 3.0\n", 0);
  Bench without("fedcafe", "afe = false\nl_e = false\nl_p = false\nl_c = false\n", 0);
  const double difference = with.Round(1).loss - without.Round(1).loss;
  const double expected = 3.0 * 0.5 * Gap(with.Code(Modality::kImage), with.Code(Modality::kText));
  EXPECT_NEAR(difference, expected, 1e-5);
  EXPECT_GT(expected, 0.1);
}

TEST(FedCafe, EnhancementTermIsTheGapToTheRawFeature) {
  Bench with("fedcafe", "l_c = false\nl_p = false\nalpha = 2.0\n", 0);
  Bench without("fedcafe", "l_c = false\nl_p = false\nl_e = false\n", 0);
  EXPECT_EQ(with.Round(1).loss, without.Round(1).loss);  // no memory yet: V_E = O
  const double difference = with.Round(2).loss - without.Round(2).loss;
  double expected = 0;
  for (Modality m : kModalities) {
    const torch::Tensor& x = m == Modality::kImage ? with.silo.all.image : with.silo.all.text;
    expected += 2.0 * 0.5 * Gap(with.Code(m), EncodeAll(*with.model, m, x, &Encoded::output));
  }
  EXPECT_NEAR(difference, expected, 1e-5);
  EXPECT_GT(expected, 1e-4);
}

TEST(FedCafe, TheHashLossMayBeDividedByTheNumberOfSilos) {
  Bench whole("fedcafe", kAllOff), part("fedcafe", std::string(kAllOff) + "hash_scale = true\n");
  EXPECT_NEAR(part.Round(1).loss, whole.Round(1).loss / 4, 1e-5);  // setup.silos = 4
}

TEST(FedCafe, LocalMemoryIsTheCentresOfFusedCodes) {
  // Pairs (x, y) with means (1,0), (1,0), (0,2), (0,1): two clusters, unit length.
  const torch::Tensor x = torch::tensor({{2.0f, 0.0f}, {1.0f, 1.0f}, {0.0f, 2.0f}, {1.0f, 1.0f}});
  const torch::Tensor y = torch::tensor({{0.0f, 0.0f}, {1.0f, -1.0f}, {0.0f, 2.0f}, {-1.0f, 1.0f}});
  const torch::Tensor labels = torch::eye(2).index_select(0, torch::tensor({0, 0, 1, 1}));
  Random random(3);
  for (bool aligned : {false, true}) {
    const torch::Tensor P = LocalMemory(x, y, labels, {2, "fused", aligned}, random);
    const torch::Tensor sorted = P.select(1, 0).gt(0.5).select(0, 0).item<bool>() ? P : P.flip(0);
    EXPECT_TRUE(torch::allclose(sorted, torch::eye(2), 1e-5, 1e-5)) << aligned;
  }
  const torch::Tensor P = LocalMemory(x, y, labels, {2, "two-stage", false}, random);
  EXPECT_TRUE(torch::allclose(P.norm(2, 1), torch::ones({2}), 1e-4, 1e-4));
}

TEST(FedCafe, AMemoryOfFewerPairsThanClassesRepeats) {
  Random random(3);
  const torch::Tensor one = torch::tensor({{3.0f, 4.0f}});
  const torch::Tensor P = LocalMemory(one, one, torch::eye(5).slice(0, 0, 1), {5, "fused"}, random);
  EXPECT_TRUE(torch::allclose(P, torch::tensor({{0.6f, 0.8f}}).repeat({5, 1})));
  const torch::Tensor none = torch::zeros({0, 2});
  EXPECT_EQ(LocalMemory(none, none, torch::zeros({0, 5}), {5, "fused"}, random)
                .abs()
                .sum()
                .item<double>(),
            0);
  // Aligned: a class the silo lacks is a row of zeros and takes no part in P_g.
  const torch::Tensor A =
      LocalMemory(one, one, torch::eye(2).slice(0, 1, 2), {2, "fused", true}, random);
  EXPECT_EQ(A[0].abs().sum().item<double>(), 0);
  const torch::Tensor P_g = GlobalMemory({A, torch::eye(2)}, {2, "fused", true}, random);
  EXPECT_TRUE(torch::allclose(P_g[0], torch::tensor({1.0f, 0.0f})));
}

TEST(FedCafe, SimilarityByHand) {
  // th = 1/2 I for equal orthonormal memories; S = I:
  // 2 (log(1 + e^.5) - .5) + 2 log 2
  const double expected = 2 * (std::log1p(std::exp(0.5)) - 0.5) + 2 * std::log(2.0);
  EXPECT_NEAR(MemorySimilarity(torch::eye(2), torch::eye(2), torch::eye(2)), expected, 1e-5);
  Random random(1);
  const auto S = SameMeaning(torch::eye(2), {torch::eye(2).flip(0), torch::eye(2)}, {2}, random);
  EXPECT_TRUE(torch::equal(S[0], torch::eye(2).flip(0)));
  EXPECT_TRUE(torch::equal(S[1], torch::eye(2)));
}

// Two silos with given memories and weights 1 and 5.
double MergedWeight(const std::string& table, const torch::Tensor& first,
                    const torch::Tensor& second) {
  const auto server = FindMethod("fedcafe").make_server(
      {{{"w", torch::zeros({1})}}, 2, {1, 1, 2}, 2, 7}, Config::Parse(table, "test"));
  server->Merge({.mean = {},
                 .gathered = {{0, {{"w/w", torch::ones({1})}, {"memory", first}}},
                              {1, {{"w/w", 5 * torch::ones({1})}, {"memory", second}}}}});
  return server->Global().at("w").item<double>();
}

TEST(FedCafe, SilosOfTheSameMemoryWeighTheSame) {
  EXPECT_NEAR(MergedWeight("", torch::eye(2), torch::eye(2)), 3, 1e-5);
  EXPECT_NEAR(MergedWeight("wa_form = 'literal'\n", torch::eye(2), torch::eye(2)), 3, 1e-5);
}

// With aligned memories everything is known: P_g is the unit mean.
TEST(FedCafe, WeightsFollowEquations9To11) {
  const torch::Tensor first = torch::eye(2), second = torch::tensor({{1.0f, 0.0f}, {1.0f, 0.0f}});
  const double h = std::sqrt(0.5);
  const torch::Tensor P_g = torch::tensor({{1.0, 0.0}, {h, h}});
  double Sim[2];
  int k = 0;
  for (const torch::Tensor& P : {first, second}) {
    Sim[k] = 0;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const double th = 0.5 * (P_g[i][0].item<double>() * P[j][0].item<double>() +
                                 P_g[i][1].item<double>() * P[j][1].item<double>());
        Sim[k] += std::log1p(std::exp(th)) - (i == j ? th : 0);
      }
    }
    ++k;
  }
  EXPECT_GT(Sim[1], Sim[0]);  // the second is farther from the global memory
  const double a1 = Sim[1] / (Sim[0] + Sim[1]);
  EXPECT_NEAR(MergedWeight("s_form = 'identity'\n", first, second), (1 - a1) + 5 * a1, 1e-5);
  const double e1 = 1 / (1 + std::exp(Sim[0] - Sim[1]));
  EXPECT_NEAR(MergedWeight("s_form = 'identity'\nwa_form = 'literal'\n", first, second),
              (1 - e1) + 5 * e1, 1e-5);
}

TEST(FedCafe, NeedsLabels) {
  Bench bench("fedcafe", kAllOff);
  bench.silo.all.labels = torch::Tensor();
  EXPECT_THROW(FindMethod("fedcafe").make_client({bench.silo, *bench.model, {}, 1},
                                                 Config::Parse("", "test")),
               Error);
}

}  // namespace
}  // namespace crossilo

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/models/hash_model.h"
#include "crossilo/models/neighbour_graph.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

const std::vector<Modality> kBoth = {Modality::kImage, Modality::kText};
const std::string kSmall = "bits = 8\nhidden_image = 6\nhidden_text = 6\n";

std::unique_ptr<HashModel> Model(const ModelShape& shape, const std::string& table) {
  return FindModel("dgcpn").make(shape, Config::Parse(table, "test"), Random(1));
}

// Two clusters of n / 2, apart in both modalities.
Silo TwoClusters(int64_t n) {
  Random random(5);
  const torch::Tensor one = torch::arange(n).remainder(2).unsqueeze(1).to(torch::kFloat);
  const auto features = [&](int64_t dims) {
    const torch::Tensor noise = RandomUniform({n, dims}, 0, 0.6, random);
    const torch::Tensor half = torch::arange(dims).lt(dims / 2).to(torch::kFloat);
    return noise + one * half + (1 - one) * (1 - half);
  };
  Silo silo;
  silo.all = {features(5), features(7), torch::Tensor()};
  return silo;
}

// One step of plain gradient descent.
void Descend(HashModel& model, const torch::Tensor& loss, const std::vector<Modality>& trains,
             double rate) {
  loss.backward();
  torch::NoGradGuard no_grad;
  for (const std::string& name : model.ParametersOf(trains)) {
    torch::Tensor& w = model.parameters().at(name);
    w.sub_(rate * w.grad());
  }
  for (auto& [name, w] : model.parameters()) w.mutable_grad().reset();
}

// Returns the sum of the losses.
double Epoch(HashModel& model, Learner& learner, int64_t batch, Random& random, double rate) {
  double sum = 0;
  for (const Step& step : learner.PlanEpoch(0, batch, random)) {
    Seen seen;
    const torch::Tensor loss = learner.Loss(step, seen);
    sum += loss.item<double>();
    Descend(model, loss, step.trains, rate);
    learner.AfterStep(step);
  }
  learner.EndEpoch();
  return sum;
}

bool SameWeights(const HashModel& a, const HashModel& b) {
  for (const auto& [name, w] : a.parameters()) {
    if (!torch::equal(w, b.parameters().at(name))) return false;
  }
  return true;
}

// J as the authors' code has it.
torch::Tensor ByHand(const torch::Tensor& code_I, const torch::Tensor& code_T,
                     const torch::Tensor& S) {
  const auto unit = [](const torch::Tensor& x) { return x / x.norm(2, 1, true); };
  const auto mse = [](const torch::Tensor& a, const torch::Tensor& b) {
    return (a - b).pow(2).sum() / static_cast<double>(a.numel());
  };
  const torch::Tensor I = unit(code_I), T = unit(code_T), off = 1 - torch::eye(S.size(0));
  const torch::Tensor IT = I.mm(T.t()), II = I.mm(I.t()), TT = T.mm(T.t());
  return (IT.diagonal() - 1.5).pow(2).mean() +                                       //
         mse(TT * off, S * off) + mse(IT * off, S * off) + mse(II * off, S * off) +  //
         mse(IT, II) + mse(IT, TT) + mse(II, TT) + mse(IT, IT.t());
}

// One-hot features and hidden layers that pass them on.  Signs of the codes:
// I_0 = T_0 = ++++++++, I_1 = ++++----, T_1 = ++++++--, each with one magnitude,
// so C_IT = (1 .5, 0 .5), C_II = (1 0, 0 1), C_TT = (1 .5, .5 1).  S_pair = E and
// nobody has a neighbour: S is -1 off the diagonal.  m^2 = 4.
// Q_c = ((1 - 1.5)^2 + (.5 - 1.5)^2) / 2 = .625
// Q_g = (2 * 1.5^2 + (1.5^2 + 1^2) + 2 * 1^2) / 4 = 2.4375
// Q_i = (2 * .5^2 + 2 * .5^2 + 2 * .5^2 + 2 * .5^2) / 4 = .5
struct TwoByHand {
  explicit TwoByHand(const std::string& extra) {
    model = Model({2, 2, 0}, "bits = 8\nhidden_image = 2\nhidden_text = 2\ndropout = 0\n" + extra);
    torch::NoGradGuard no_grad;
    const auto hash = [](int64_t plus) {
      torch::Tensor w = torch::full({8, 2}, 0.7);
      w.select(1, 1).slice(0, plus, 8).fill_(-0.7);
      return w;
    };
    for (auto& [name, parameter] : model->parameters()) {
      if (name.ends_with("bias")) parameter.zero_();
      if (name.ends_with("hidden.weight")) parameter.copy_(torch::eye(2));
      if (name == "image.hash.weight") parameter.copy_(hash(4));
      if (name == "text.hash.weight") parameter.copy_(hash(6));
    }
    silo.all = {torch::eye(2), torch::eye(2), torch::Tensor()};
    learner = model->Learn(silo, Random(1), Random(0));
  }
  torch::Tensor Loss(int part) {
    Seen seen;
    return learner->Loss({torch::tensor({0, 1}), kBoth, part, part == 2}, seen);
  }
  std::unique_ptr<HashModel> model;
  Silo silo;
  std::unique_ptr<Learner> learner;
};

TEST(Dgcpn, LossWorkedByHand) {
  EXPECT_NEAR(TwoByHand("").Loss(0).item<double>(), .625 + 2.4375 + .5, 1e-5);
  EXPECT_NEAR(TwoByHand("dw = 2.0\ncw = 3.0\n").Loss(0).item<double>(), .625 + 4.875 + 1.5, 1e-5);
  // (1 - 1)^2 and (.5 - 1)^2
  EXPECT_NEAR(TwoByHand("K = 1.0\n").Loss(0).item<double>(), .125 + 2.4375 + .5, 1e-5);
}

// Signs have the same directions as these codes: the same loss, but no gradient
// through them.
TEST(Dgcpn, BinaryCodesAreNotTrained) {
  TwoByHand two("");
  const auto graded = [&](const std::string& net) {
    return two.model->parameters().at(net + ".hash.weight").grad().defined();
  };
  for (int part : {1, 2}) {
    for (auto& [name, w] : two.model->parameters()) w.mutable_grad().reset();
    const torch::Tensor loss = two.Loss(part);
    EXPECT_NEAR(loss.item<double>(), 3.5625, 1e-5);
    loss.backward();
    EXPECT_EQ(graded("image"), part == 1);
    EXPECT_EQ(graded("text"), part == 2);
  }
}

// Against the three steps written out, with the same noise: both networks; then
// encoded anew, image, and text from the same encoding.
TEST(Dgcpn, ThreeStepsEqualThoseWrittenOut) {
  const Silo silo = TwoClusters(6);
  auto model = Model({5, 7, 0}, kSmall), hand = Model({5, 7, 0}, kSmall);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(7), again(7);
  learner->BeginRound(random);
  Epoch(*model, *learner, 6, random, 0.1);

  Random noise(again.Bits());
  const torch::Tensor rows = RandomPermutation(6, again);
  const Batch x = silo.all.Select(rows);
  const torch::Tensor S = NeighbourGraph(silo.all.image, silo.all.text, {}).Target(rows);
  torch::Tensor I = hand->Encode(Modality::kImage, x.image, &noise).code;
  torch::Tensor T = hand->Encode(Modality::kText, x.text, &noise).code;
  Descend(*hand, ByHand(I, T, S), kBoth, 0.1);
  I = hand->Encode(Modality::kImage, x.image, &noise).code;
  T = hand->Encode(Modality::kText, x.text, &noise).code;
  Descend(*hand, ByHand(I, T.sign().detach(), S), {Modality::kImage}, 0.1);
  Descend(*hand, ByHand(I.sign().detach(), T, S), {Modality::kText}, 0.1);
  for (const auto& [name, w] : hand->parameters()) {
    EXPECT_TRUE(torch::allclose(model->parameters().at(name), w, 1e-4, 1e-6)) << name;
  }
}

TEST(Dgcpn, PlansThreePartsOnEveryBatchAndSeesBothModalities) {
  const Silo silo = TwoClusters(5);
  auto model = Model({5, 7, 0}, kSmall);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  const std::vector<Step> steps = learner->PlanEpoch(0, 2, random);
  ASSERT_EQ(steps.size(), 9u);  // batches of 2, 2 and 1
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].part, static_cast<int>(i % 3));
    EXPECT_EQ(steps[i].last, i % 3 == 2);
    EXPECT_EQ(steps[i].rows.size(0), i < 6 ? 2 : 1);
  }
  EXPECT_EQ(steps[3].trains, kBoth);
  EXPECT_EQ(steps[4].trains, std::vector{Modality::kImage});
  EXPECT_EQ(steps[5].trains, std::vector{Modality::kText});
  Seen seen;
  learner->Loss(steps[0], seen);
  EXPECT_EQ(seen.image.hidden.sizes(), (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(seen.text.code.sizes(), (std::vector<int64_t>{2, 8}));
}

// A method may train the text network alone; then nothing of part 1 is there.
TEST(Dgcpn, PartTwoStandsWithoutPartOne) {
  const Silo silo = TwoClusters(4);
  auto model = Model({5, 7, 0}, kSmall);
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const Step& step : learner->PlanEpoch(epoch, 2, random)) {
      if (step.part == 1) continue;
      Seen seen;
      const torch::Tensor loss = learner->Loss(step, seen);
      EXPECT_TRUE(std::isfinite(loss.item<double>()));
      Descend(*model, loss, {Modality::kText}, 0.01);
    }
    learner->EndEpoch();
  }
}

// Dropout keeps the mean of what it lets through; hidden comes before it.
TEST(Dgcpn, DropoutOnlyWithNoise) {
  for (const char* p : {"0.5", "0.2"}) {
    auto model = Model({5, 7, 0}, kSmall + "dropout = " + p + "\n");
    const torch::Tensor x = torch::ones({40000, 5});
    Random noise(3), same(3);
    const Encoded clean = model->Encode(Modality::kImage, x);
    const Encoded noisy = model->Encode(Modality::kImage, x, &noise);
    EXPECT_TRUE(torch::equal(clean.code, model->Encode(Modality::kImage, x).code));
    EXPECT_TRUE(torch::equal(clean.code, torch::tanh(clean.raw)));
    EXPECT_TRUE(torch::equal(noisy.code, model->Encode(Modality::kImage, x, &same).code));
    EXPECT_TRUE(torch::equal(clean.hidden, noisy.hidden));
    EXPECT_FALSE(torch::equal(clean.code, noisy.code));
    // The deviation of raw is about 0.5 / sqrt(40000).
    EXPECT_TRUE(torch::allclose(noisy.raw.mean(0), clean.raw.mean(0), 0, 0.01));
    // Of the units that say anything a share of p is silent: raw is its bias
    // where all of them are.
    const double speaking = (clean.hidden[0] > 0).sum().item<double>();
    const torch::Tensor bias = model->parameters().at("image.hash.bias");
    const double none = (noisy.raw == bias).all(1).to(torch::kFloat).mean().item<double>();
    EXPECT_NEAR(none, std::pow(std::stod(p), speaking), 0.01);
  }
}

TEST(Dgcpn, TextOutputWeightsAreNormal) {
  auto model = Model({5, 7, 0}, "bits = 64\nhidden_image = 100\nhidden_text = 100\n");
  EXPECT_NEAR(model->parameters().at("text.hash.weight").std().item<double>(), 0.3, 0.01);
  EXPECT_LE(model->parameters().at("text.hash.bias").abs().max().item<double>(), 0.1);
  EXPECT_LE(model->parameters().at("image.hash.weight").abs().max().item<double>(), 0.1);
  auto plain = Model({5, 7, 0}, "bits = 64\nhidden_text = 100\ntext_deviation = -1.0\n");
  EXPECT_LE(plain->parameters().at("text.hash.weight").abs().max().item<double>(), 0.1);
}

TEST(Dgcpn, AResumedRoundGivesTheSameBits) {
  const Silo silo = TwoClusters(10);
  auto whole = Model({5, 7, 0}, kSmall), resumed = Model({5, 7, 0}, kSmall);
  auto learner = whole->Learn(silo, Random(1), Random(0));
  Random first(11);
  learner->BeginRound(first);
  Epoch(*whole, *learner, 4, first, 0.1);

  auto late = resumed->Learn(silo, Random(1), Random(0));
  late->SetState(learner->State());
  SetWeights(*resumed, Weights(*whole));
  for (auto& [model, its] : {std::pair{whole.get(), learner.get()}, {resumed.get(), late.get()}}) {
    Random second(12);
    its->BeginRound(second);
    Epoch(*model, *its, 4, second, 0.1);
  }
  EXPECT_TRUE(SameWeights(*whole, *resumed));
}

TEST(Dgcpn, OneTwoAndThreeSamplesTrain) {
  for (int64_t n : {1, 2, 3}) {
    const Silo silo = TwoClusters(n);
    auto model = Model({5, 7, 0}, kSmall);
    auto learner = model->Learn(silo, Random(1), Random(0));
    Random random(1);
    learner->BeginRound(random);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isfinite(Epoch(*model, *learner, 2, random, 0.1)));
    }
    EXPECT_EQ(FirstNotFinite(Weights(*model)), "");
  }
}

TEST(Dgcpn, SeparatesTwoClusters) {
  const Silo silo = TwoClusters(40);
  auto model = Model({5, 7, 0}, "bits = 16\nhidden_image = 32\nhidden_text = 32\n");
  auto learner = model->Learn(silo, Random(1), Random(0));
  Random random(1);
  learner->BeginRound(random);
  const double first = Epoch(*model, *learner, 20, random, 0.05);
  double last = first;
  for (int i = 0; i < 30; ++i) last = Epoch(*model, *learner, 20, random, 0.05);
  EXPECT_LT(last, first);
  torch::NoGradGuard no_grad;
  const torch::Tensor x = model->Encode(Modality::kImage, silo.all.image).code.sign();
  const torch::Tensor y = model->Encode(Modality::kText, silo.all.text).code.sign();
  const torch::Tensor nearest = x.mm(y.t()).argmax(1);
  EXPECT_TRUE(torch::equal(nearest.remainder(2), torch::arange(40).remainder(2)));
}

}  // namespace
}  // namespace crossilo

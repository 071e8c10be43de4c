#include "crossilo/train/local_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

struct Fixture {
  Fixture() {
    Random random(1);
    silo.all = {RandomNormal({20, 3}, random), RandomNormal({20, 3}, random),
                torch::eye(2).repeat({10, 1})};
    model = FindModel("dcmh").make(
        {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
        Random(2));
    learner = model->Learn(silo, Random(3), Random(0));
  }
  TrainingResult Train(const TrainingOptions& options, const TrainingHooks& hooks = {}) {
    Optimizer optimizer(options.optimizer);
    Random random(4);
    return TrainLocally(*model, *learner, optimizer, options, 1, random, hooks);
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
  std::unique_ptr<Learner> learner;
};

TEST(TrainLocally, TakesThePlannedStepsAndLowersTheLoss) {
  Fixture f;
  TrainingOptions options{.local_epochs = 1, .batch = 5};
  const TrainingResult first = f.Train(options);
  EXPECT_EQ(first.steps, 2 * 20 / 5);  // both modalities
  options.local_epochs = 50;
  EXPECT_LT(f.Train(options).loss, first.loss);
}

TEST(TrainLocally, HooksSeeEveryStep) {
  Fixture f;
  int losses = 0, gradients = 0;
  TrainingHooks hooks;
  hooks.extra_loss = [&](const Step& step, const Seen& seen) {
    ++losses;
    EXPECT_TRUE(seen.of(step.trains.front()).code.defined());
    return std::vector<LossTerm>{{"nothing", torch::zeros({})}};
  };
  hooks.adjust_gradients = [&](TensorMap& parameters, const std::vector<std::string>& names) {
    ++gradients;
    for (const auto& name : names) EXPECT_TRUE(parameters.at(name).grad().defined());
  };
  const TrainingResult result = f.Train({.local_epochs = 2, .batch = 5}, hooks);
  EXPECT_EQ(losses, result.steps);
  EXPECT_EQ(gradients, result.steps);
}

TEST(TrainLocally, OnlyTheMaskedSamplesTrain) {
  Fixture f;
  const int64_t n = f.silo.size();
  TrainingHooks hooks;
  hooks.only = torch::arange(n).remainder(2).eq(0);
  int64_t rows = 0, epochs = 0, steps = 0;
  hooks.begin_epoch = [&](int epoch) { EXPECT_EQ(epoch, epochs++); };
  hooks.extra_loss = [&](const Step& step, const Seen&) {
    EXPECT_TRUE(step.rows.remainder(2).eq(0).all().item<bool>());
    rows += step.rows.size(0);
    ++steps;
    return std::vector<LossTerm>{};
  };
  f.Train({.local_epochs = 2, .batch = 5}, hooks);
  EXPECT_EQ(rows, 2 * 2 * ((n + 1) / 2));  // two modalities, two epochs
  EXPECT_EQ(epochs, 2);
  EXPECT_EQ(steps, 2 * 2 * (((n + 1) / 2 + 4) / 5));  // as many as half the samples need
}

TEST(TrainLocally, OnlyTheGivenNetworksMove) {
  Fixture f;
  const TensorMap before = Weights(*f.model);
  TrainingHooks hooks;
  hooks.trains = {Modality::kText};
  const TrainingResult result = f.Train({.local_epochs = 1, .batch = 5}, hooks);
  EXPECT_EQ(result.steps, 20 / 5);  // DCMH's image steps would move nothing
  const TensorMap after = Weights(*f.model);
  EXPECT_TRUE(after.at("image.hash.weight").equal(before.at("image.hash.weight")));
  EXPECT_FALSE(after.at("text.hash.weight").equal(before.at("text.hash.weight")));
}

// A step of the method's own follows every batch.  Its loss is w for the first
// weight, so plain SGD takes `rate` off it a step, and off no other.
TEST(TrainLocally, AMethodsOwnStepFollowsTheLast) {
  Fixture f;
  TrainingHooks hooks;
  hooks.own_factor = 0;
  int steps = 0;
  hooks.own_step = [&](const torch::Tensor& rows) {
    ++steps;
    EXPECT_EQ(rows.size(0), 5);
    return std::vector<LossTerm>{{"w", f.model->parameters().at("text.hash.bias")[0]}};
  };
  const torch::Tensor before = Weights(*f.model).at("text.hash.bias");
  const TrainingResult result = f.Train({.local_epochs = 1, .batch = 5}, hooks);
  EXPECT_EQ(steps, result.steps);
  const torch::Tensor moved = before - Weights(*f.model).at("text.hash.bias");
  EXPECT_NEAR(moved[0].item<double>(), 0.1 * steps, 1e-5);  // 0.1: the default rate
  EXPECT_NEAR(moved[1].item<double>(), 0, 1e-7);
}

// DGCPN's third step on a batch moves the text network only; without it the
// batch ends with the second, and without the second with the third.
TEST(TrainLocally, ABatchEndsWithTheLastStepThatIsLeft) {
  Fixture f;
  f.model = FindModel("dgcpn").make(
      {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
      Random(2));
  f.learner = f.model->Learn(f.silo, Random(3), Random(0));
  const std::vector<std::vector<Modality>> networks = {
      {}, {Modality::kImage}, {Modality::kText}, {Modality::kImage, Modality::kText}};
  for (const std::vector<Modality>& trains : networks) {
    TrainingHooks hooks;
    hooks.trains = trains;
    std::vector<torch::Tensor> begun, ended;
    hooks.extra_loss = [&](const Step& step, const Seen&) {
      begun.push_back(step.rows);
      return std::vector<LossTerm>{};
    };
    hooks.own_step = [&](const torch::Tensor& rows) {
      ended.push_back(rows);
      return std::vector<LossTerm>{};
    };
    const TrainingResult result = f.Train({.local_epochs = 1, .batch = 5}, hooks);
    EXPECT_EQ(result.steps, (trains.size() == 1 ? 2 : 3) * 20 / 5);
    ASSERT_EQ(ended.size(), 20u / 5);  // once a batch
    ASSERT_EQ(begun.size(), ended.size());
    for (size_t i = 0; i < ended.size(); ++i) EXPECT_TRUE(torch::equal(begun[i], ended[i]));
  }
}

TEST(TrainLocally, TheModelsOwnLossMayBeScaled) {
  TrainingOptions still{.local_epochs = 1, .batch = 5};
  still.optimizer.learning_rate = 0;
  Fixture a, b;
  EXPECT_NEAR(a.Train(still, {.own_factor = 0.25}).loss, b.Train(still).loss / 4, 1e-6);
}

TEST(TrainLocally, DivergenceNamesTheStepAndTheTerm) {
  Fixture f;
  TrainingHooks hooks;
  hooks.extra_loss = [](const Step&, const Seen&) {
    return std::vector<LossTerm>{{"L_E", torch::zeros({})}, {"L_C", torch::tensor(NAN)}};
  };
  try {
    f.Train({.local_epochs = 2, .batch = 5}, hooks);
    FAIL() << "went on with a loss that is not a number";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("epoch 1, step 1"));
    EXPECT_THAT(error.what(), HasSubstr("L_C is not finite"));
  }
}

TEST(TrainingOptions, SchedulesEndWhereTheySay) {
  TrainingOptions o{.rounds = 3, .local_epochs = 2};
  o.optimizer.learning_rate = 1;
  o.final_learning_rate = 0.01;
  EXPECT_EQ(o.RateAt(5), 1);
  o.schedule = "linear";  // 6 epochs: 1, .802, .604, .406, .208, .01
  EXPECT_NEAR(o.RateAt(1), 0.802, 1e-12);
  EXPECT_NEAR(o.RateAt(5), 0.01, 1e-12);
  o.schedule = "geometric";  // 10^(-2 t)
  EXPECT_NEAR(o.RateAt(5), 0.01, 1e-12);
  EXPECT_NEAR(o.RateAt(1), std::pow(10, -0.4), 1e-12);
}

}  // namespace
}  // namespace crossilo

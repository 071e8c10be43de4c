#include "crossilo/cli/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "crossilo/base/error.h"
#include "crossilo/data/generate.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

TEST(Experiment, APresetFillsWhatTheFileLeavesOpen) {
  const Experiment plain = ReadExperiment(Config());
  EXPECT_EQ(plain.training.optimizer.kind, "adam");
  const Experiment paper = ReadExperiment(
      Config::Parse("[model]\nbase = 'dcmh'\npreset = 'paper'\n[training]\nbatch = 7\n", "x"));
  EXPECT_EQ(paper.training.optimizer.kind, "sgd");
  EXPECT_NEAR(paper.training.optimizer.learning_rate, std::pow(10, -1.5), 1e-9);
  EXPECT_EQ(paper.training.batch, 7);  // the file's own word stands
}

TEST(Experiment, EveryModelAndMethodReadsItsOwnKeysAndNoOthers) {
  for (const ModelKind& model : AllModels()) {
    for (const Method& method : AllMethods()) {
      Config config;
      config.Set("model.base=" + model.name);
      config.Set("method.name=" + method.name);
      const std::string resolved = ReadExperiment(config).config.Resolved();
      // What was resolved is a whole experiment again.
      EXPECT_EQ(ReadExperiment(Config::Parse(resolved, "y")).config.Resolved(), resolved);
    }
  }
  try {
    ReadExperiment(Config::Parse("[method]\nname = 'fedavg'\nmu = 1.0\n", "x"));
    FAIL() << "fedavg has no mu";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown key 'method.mu'"));
  }
}

TEST(SetAsideValidation, TakesQueriesFromTrainingAloneAndLeavesTheRest) {
  Dataset dataset = Generate({.samples = 200});
  const Rows training = dataset.Split("training"), query = dataset.Split("query");
  SetAsideValidation(dataset, 0.25, 1);
  const Rows &asked = dataset.Split("query"), &rest = dataset.Split("training");
  EXPECT_EQ(asked.size(), training.size() / 4);
  EXPECT_EQ(dataset.Split("retrieval"), rest);
  std::set<int64_t> both(asked.begin(), asked.end());
  both.insert(rest.begin(), rest.end());
  EXPECT_EQ(both, std::set<int64_t>(training.begin(), training.end()));
  for (int64_t row : query) EXPECT_FALSE(both.contains(row)) << "a real query was looked at";
}

}  // namespace
}  // namespace crossilo

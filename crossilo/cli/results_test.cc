#include "crossilo/cli/results.h"

#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/progress.h"

namespace crossilo {
namespace {

Scores Of(double i2t, double t2i) {
  Scores s;
  s.i2t.map = i2t;
  s.t2i.map = t2i;
  s.i2t.map_at = {{10, i2t / 2}};
  s.t2i.map_at = {{10, t2i / 2}};
  s.i2t.queries = s.t2i.queries = 5;
  return s;
}

TEST(Results, MeanOfSilosIsMeasureByMeasure) {
  const Scores mean = MeanOf({Of(0.2, 0.4), Of(0.4, 0.8)});
  EXPECT_NEAR(mean.i2t.map, 0.3, 1e-12);
  EXPECT_NEAR(mean.t2i.map_at.at(10), 0.3, 1e-12);
  EXPECT_EQ(mean.i2t.queries, 10);
  EXPECT_THROW(MeanOf({}), Error);
}

TEST(Results, JsonHasTheNamesThatScriptsRead) {
  const Json json = ToJson(Of(0.25, 0.5));
  EXPECT_EQ(json["map"]["i2t"], 0.25);
  EXPECT_EQ(json["map@10"]["t2i"], 0.25);
}

TEST(RoundLog, AResumedRunKeepsOnlyTheFinishedRounds) {
  const auto path = std::filesystem::path(testing::TempDir()) / "rounds_test.jsonl";
  WriteFile(path, "{\"round\":1}\n{\"round\":2}\n{\"rou");  // killed while writing
  RoundLog log(path, 1);
  EXPECT_EQ(log.lines().size(), 1u);
  log.Append({{"round", 2}});
  EXPECT_EQ(ReadFile(path), "{\"round\":1}\n{\"round\":2}\n");
  RoundLog fresh(path, 0);
  EXPECT_EQ(ReadFile(path), "");
}

TEST(Progress, DurationsReadWell) {
  EXPECT_EQ(Duration(0.42), "0.4 s");
  EXPECT_EQ(Duration(59.4), "59 s");
  EXPECT_EQ(Duration(187), "3 min 07 s");
  EXPECT_EQ(Duration(7500), "2 h 05 min");
}

}  // namespace
}  // namespace crossilo

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "crossilo/data/generate.h"
#include "crossilo/data/partition.h"

namespace crossilo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Rows Range(int64_t from, int64_t to) {
  Rows rows(to - from);
  std::iota(rows.begin(), rows.end(), from);
  return rows;
}

// Rows 0-3 train: classes 0 0 0 1.  Rows 4-11 ask: class 0; row 12: class 1;
// rows 13-15: class 2, which nobody trains on.
Dataset Small() {
  Dataset out;
  out.image = out.text = torch::zeros({16, 1});
  out.labels[""] = torch::zeros({16, 3}, torch::kByte);
  const int classes[16] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2};
  for (int i = 0; i < 16; ++i) out.labels[""][i][classes[i]] = 1;
  out.splits = {{"training", Range(0, 4)}, {"query", Range(4, 16)}, {"retrieval", Range(0, 16)}};
  return out;
}

TEST(DealLike, FollowsTheTrainingCountsOfEachClass) {
  const Dataset dataset = Small();
  // Silo a trains on class 0 once; b twice; c holds the one row of class 1.
  const Partition partition = {{"a", "b", "c"}, {{0}, {1, 2}, {3}}};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto dealt = DealLike(dataset, partition, {}, "query", seed);
    std::vector<int> by_class[3];
    for (int silo = 0; silo < 3; ++silo) {
      by_class[silo].resize(3);
      for (int64_t row : dealt[silo]) {
        ++by_class[silo][dataset.labels.at("")[row].argmax().item<int64_t>()];
      }
      EXPECT_TRUE(std::is_sorted(dealt[silo].begin(), dealt[silo].end()));
    }
    // Class 0: 8 rows in shares 1/3, 2/3, 0: 2.67 and 5.33, rounded either way.
    EXPECT_TRUE(by_class[0][0] == 2 || by_class[0][0] == 3) << by_class[0][0];
    EXPECT_EQ(by_class[0][0] + by_class[1][0], 8);
    EXPECT_EQ(by_class[2][0], 0);
    // Class 1 is c's alone.
    EXPECT_EQ(by_class[2][1], 1);
    // Class 2 goes by the sizes 1, 2, 1 of 4: 0.75, 1.5, 0.75 of 3 rows.
    EXPECT_LE(by_class[0][2], 1);
    EXPECT_TRUE(by_class[1][2] == 1 || by_class[1][2] == 2);
    EXPECT_LE(by_class[2][2], 1);
    EXPECT_EQ(by_class[0][2] + by_class[1][2] + by_class[2][2], 3);
  }
}

TEST(DealLike, ExactQuotasAreMetExactlyAndDrawsDiffer) {
  Dataset dataset = Small();
  dataset.splits["query"] = Range(4, 10);  // 6 rows of class 0: 2 and 4
  const Partition partition = {{"a", "b"}, {{0}, {1, 2}}};
  const auto first = DealLike(dataset, partition, {}, "query", 1);
  EXPECT_EQ(first[0].size(), 2u);
  EXPECT_EQ(first[1].size(), 4u);
  EXPECT_EQ(DealLike(dataset, partition, {}, "query", 1), first);
  bool differs = false;
  for (uint64_t seed = 2; seed < 12; ++seed) {
    differs |= DealLike(dataset, partition, {}, "query", seed) != first;
  }
  EXPECT_TRUE(differs);
}

TEST(DealLike, RowsThatASiloTrainsOnStayThere) {
  const Partition partition = {{"a", "b", "c"}, {{0}, {1, 2}, {3}}};
  const auto dealt = DealLike(Small(), partition, {}, "retrieval", 4);
  Rows all;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::includes(dealt[i].begin(), dealt[i].end(), partition.training[i].begin(),
                              partition.training[i].end()));
    all.insert(all.end(), dealt[i].begin(), dealt[i].end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, Range(0, 16));
}

TEST(DealLike, AColumnsValueComesBeforeTheClass) {
  Dataset dataset = Small();
  dataset.items.columns = {"house"};
  // Training rows 0, 1 are x's, 2, 3 y's; of the queries only 4 and 12 are x's
  // and 15 is from a house that trains nothing.
  for (int i = 0; i < 16; ++i) {
    const bool x = i < 2 || i == 4 || i == 12;
    dataset.items.rows.push_back({i == 15 ? "z" : x ? "x" : "y"});
  }
  PartitionOptions options = {.kind = "column", .column = "house"};
  dataset.splits["query"] = Range(4, 15);
  const Partition partition = Deal(dataset, options, 1);
  // Row 12 has class 1, which only y trains on, and still is x's.
  EXPECT_THAT(DealLike(dataset, partition, options, "query", 1),
              ElementsAre(ElementsAre(4, 12), ElementsAre(5, 6, 7, 8, 9, 10, 11, 13, 14)));
  dataset.splits["query"] = {15};
  const auto foreign = DealLike(dataset, partition, options, "query", 1);
  EXPECT_EQ(foreign[0].size() + foreign[1].size(), 1u);

  // With y dealt again, one silo a row, y's rows go by class among y's silos.
  options.within = std::make_shared<PartitionOptions>(PartitionOptions{.kind = "iid", .silos = 2});
  const Partition nested = {{"x/1", "x/2", "y/1", "y/2"}, {{0}, {1}, {2}, {3}}};
  dataset.splits["query"] = Range(5, 9);
  EXPECT_THAT(DealLike(dataset, nested, options, "query", 1),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(5, 6, 7, 8), IsEmpty()));
}

TEST(DealLike, MatchesTheMixOnClustersToo) {
  // Every sample has two labels, so classes are clusters of the images; with
  // no noise a cluster holds whole label pairs, and dealing conserves rows.
  const Dataset dataset = Generate({.samples = 600, .classes = 4, .noise = 0, .multi_label = 1});
  const PartitionOptions options = {.kind = "dirichlet", .silos = 3, .beta = 0.3};
  const Partition partition = Deal(dataset, options, 2);
  const auto dealt = DealLike(dataset, partition, options, "query", 2);
  Rows training, query;
  for (const Rows& rows : partition.training) {
    training.insert(training.end(), rows.begin(), rows.end());
  }
  for (int silo = 0; silo < 3; ++silo) {
    query.insert(query.end(), dealt[silo].begin(), dealt[silo].end());
    const double share =
        static_cast<double>(partition.training[silo].size()) / static_cast<double>(training.size());
    // 60 queries over 3 clusters, each rounded once, and sampling of clusters.
    EXPECT_NEAR(static_cast<double>(dealt[silo].size()) / 60, share, 0.15);
  }
  std::sort(query.begin(), query.end());
  EXPECT_EQ(query, dataset.Split("query"));
}

}  // namespace
}  // namespace crossilo

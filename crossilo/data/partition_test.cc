#include "crossilo/data/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/data/generate.h"

namespace crossilo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

const std::vector<std::string> kKinds = {"pooled",    "iid",          "column",
                                         "dirichlet", "noniid-equal", "noniid-unequal"};

// Samples with the given classes, all of them training; image features are the
// class's number, so that clusters of images are the classes.
Dataset Labelled(const std::vector<int64_t>& classes, int64_t count) {
  const int64_t n = static_cast<int64_t>(classes.size());
  Dataset out;
  out.name = "labelled";
  out.image = torch::tensor(classes, torch::kLong).to(torch::kFloat).reshape({n, 1});
  out.text = out.image;
  out.labels[""] = torch::zeros({n, count}, torch::kByte);
  for (int64_t i = 0; i < n; ++i) out.labels[""][i][classes[i]] = 1;
  out.splits["training"] = Rows(n);
  std::iota(out.splits["training"].begin(), out.splits["training"].end(), 0);
  return out;
}

// `per` samples of each of `count` classes, in turn.
Dataset Even(int64_t count, int64_t per) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < count * per; ++i) classes.push_back(i % count);
  return Labelled(classes, count);
}

std::vector<size_t> Sizes(const std::vector<Rows>& silos) {
  std::vector<size_t> sizes;
  for (const Rows& rows : silos) sizes.push_back(rows.size());
  return sizes;
}

// Each silo's share of one class.
std::vector<double> SharesOf(const Dataset& dataset, const Partition& partition, int64_t c) {
  std::vector<double> shares;
  double sum = 0;
  for (const Rows& rows : partition.training) {
    shares.push_back(0);
    for (int64_t row : rows) shares.back() += dataset.labels.at("")[row][c].item<int>();
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

std::string Refusal(const Dataset& dataset, const PartitionOptions& options) {
  try {
    Deal(dataset, options, 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Partition, EveryKindDealsTrainingRowsOnceAndAgain) {
  const Dataset dataset = Generate({.samples = 1000, .classes = 6, .seed = 3});
  const Rows& training = dataset.Split("training");
  for (const std::string& kind : kKinds) {
    const PartitionOptions options = {
        .kind = kind, .silos = 4, .column = "house", .ways = 3, .ways_spread = 1};
    const Partition partition = Deal(dataset, options, 5);
    Rows all;
    for (const Rows& rows : partition.training) {
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end())) << kind;
      EXPECT_FALSE(rows.empty()) << kind;
      all.insert(all.end(), rows.begin(), rows.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << kind;
    EXPECT_TRUE(std::includes(training.begin(), training.end(), all.begin(), all.end())) << kind;
    if (!kind.starts_with("noniid")) {
      EXPECT_EQ(all.size(), training.size()) << kind;
    }

    EXPECT_EQ(Deal(dataset, options, 5).training, partition.training) << kind;
    const bool drawn = kind != "pooled" && kind != "column";
    EXPECT_EQ(Deal(dataset, options, 6).training != partition.training, drawn) << kind;
  }
}

TEST(Partition, PooledAndIidAndColumnHaveTheirSizes) {
  Dataset dataset = Even(2, 5);
  EXPECT_THAT(Sizes(Deal(dataset, {.kind = "pooled"}, 1).training), ElementsAre(10));
  const Partition iid = Deal(dataset, {.kind = "iid", .silos = 4}, 1);
  EXPECT_THAT(Sizes(iid.training), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(iid.names, ElementsAre("1", "2", "3", "4"));

  dataset.items.columns = {"house"};
  for (const char* house : {"b", "a", "b", "c", "a", "b", "b", "c", "b", "b"}) {
    dataset.items.rows.push_back({house});
  }
  const Partition column = Deal(dataset, {.kind = "column", .column = "house"}, 1);
  EXPECT_THAT(column.names, ElementsAre("b", "a", "c"));
  EXPECT_THAT(column.training,
              ElementsAre(ElementsAre(0, 2, 5, 6, 8, 9), ElementsAre(1, 4), ElementsAre(3, 7)));
}

TEST(Partition, DirichletIsEvenForALargeBetaAndNarrowForASmallOne) {
  const Dataset dataset = Even(10, 200);
  const Partition even = Deal(dataset, {.kind = "dirichlet", .silos = 5, .beta = 1000}, 1);
  double narrow_mean = 0;
  for (int64_t c = 0; c < 10; ++c) {
    // A share has deviation sqrt(.2 * .8 / 5001) = .006; cutting adds 1/200.
    // The cap may close a silo for the last class only.
    if (c < 9) {
      EXPECT_THAT(SharesOf(dataset, even, c), Each(AllOf(Ge(0.17), Le(0.23))));
    }
    const Partition narrow = Deal(
        dataset, {.kind = "dirichlet", .silos = 5, .beta = 0.05, .minimum = 1, .capped = false}, c);
    const auto shares = SharesOf(dataset, narrow, c);
    narrow_mean += *std::max_element(shares.begin(), shares.end()) / 10;
  }
  EXPECT_GT(narrow_mean, 0.75);  // one silo has most of a class
}

TEST(Partition, DirichletKeepsTheMinimumAndTheCap) {
  const Dataset dataset = Even(10, 50);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PartitionOptions options = {.kind = "dirichlet", .silos = 10, .beta = 0.3, .minimum = 20};
    const auto sizes = Sizes(Deal(dataset, options, seed).training);
    EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), 20u);
    // A silo below n/K = 50 may be given one whole class of 50 more, never two.
    EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()), 100u);
  }
  size_t largest = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PartitionOptions options = {
        .kind = "dirichlet", .silos = 10, .beta = 0.3, .minimum = 1, .capped = false};
    for (size_t size : Sizes(Deal(dataset, options, seed).training)) {
      largest = std::max(largest, size);
    }
  }
  EXPECT_GE(largest, 100u);  // what the cap rules out does happen without it
}

TEST(Partition, NoniidEqualCountsLieInTheirRanges) {
  // 27 classes of 624 rows, as FashionVC has them.
  const Dataset dataset = Even(27, 624);
  const Partition partition = Deal(dataset, {.kind = "noniid-equal", .silos = 10}, 1);
  std::set<size_t> ways_seen, shots_seen;
  for (const Rows& rows : partition.training) {
    std::map<int, size_t> count;
    for (int c : ClassOf(dataset, rows, {}, 1)) ++count[c];
    EXPECT_GE(count.size(), 13u);
    EXPECT_LE(count.size(), 17u);
    ways_seen.insert(count.size());
    std::set<size_t> shots;
    for (const auto& [c, n] : count) shots.insert(n);
    EXPECT_EQ(shots.size(), 1u);  // one k_u a silo
    shots_seen.merge(shots);
  }
  EXPECT_THAT(shots_seen, ElementsAre(19, 20));
  EXPECT_GT(ways_seen.size(), 1u);
}

TEST(Partition, NoniidEqualTakesConsecutiveBlocksUntilAClassRunsOut) {
  // One class of 5 rows and blocks of 2: two silos are served, {0, 1} or {0}
  // and {2, 3} or {2}; the fifth row is not enough for a third.
  const Dataset dataset = Labelled({0, 0, 0, 0, 0}, 1);
  PartitionOptions options = {
      .kind = "noniid-equal", .silos = 2, .ways = 1, .ways_spread = 0, .shots = 2};
  const Partition partition = Deal(dataset, options, 1);
  EXPECT_EQ(partition.training[0].front(), 0);
  EXPECT_EQ(partition.training[1].front(), 2);
  EXPECT_THAT(Sizes(partition.training), Each(AllOf(Ge(1u), Le(2u))));
  options.silos = 3;
  EXPECT_THAT(Refusal(dataset, options), HasSubstr("no class has 2 samples left for silo 3 of 3"));
}

TEST(Partition, NoniidUnequalDealsWholeShards) {
  // 27 * 31 = 837 rows: 41 shards of 20 and 17 rows over.
  const Dataset dataset = Even(27, 31);
  const Partition partition = Deal(dataset, {.kind = "noniid-unequal", .silos = 8}, 2);
  size_t total = 0;
  for (const Rows& rows : partition.training) {
    EXPECT_EQ(rows.size() % 20, 0u);
    EXPECT_GE(rows.size(), 20u);
    total += rows.size();
    // 20 rows in class order span at most two classes of 31.
    const auto classes = ClassOf(dataset, rows, {}, 1);
    EXPECT_LE(std::set<int>(classes.begin(), classes.end()).size(), rows.size() / 20 * 2);
  }
  EXPECT_EQ(total, 41u * 20);
  const auto sizes = Sizes(partition.training);
  EXPECT_GT(std::set<size_t>(sizes.begin(), sizes.end()).size(), 1u);
}

TEST(Partition, MultiLabelSamplesGetClustersAsClasses) {
  Dataset dataset = Even(3, 4);
  EXPECT_THAT(ClassOf(dataset, {0, 1, 2, 3}, {}, 1), ElementsAre(0, 1, 2, 0));
  dataset.labels[""][0][1] = 1;  // one sample with two labels is enough
  const Rows rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto clusters = ClassOf(dataset, rows, {.silos = 3}, 1);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(clusters[i], clusters[i + 3]);
  EXPECT_EQ(std::set<int>(clusters.begin(), clusters.end()).size(), 3u);
  const auto two = ClassOf(Even(3, 4), rows, {.silos = 3, .pseudo_labels = 2}, 1);
  EXPECT_EQ(std::set<int>(two.begin(), two.end()).size(), 2u);

  dataset.labels.clear();  // and samples without any are clustered too
  EXPECT_EQ(ClassOf(dataset, rows, {.silos = 3}, 1), clusters);
}

TEST(Partition, NestsByAnotherLevelInsideAColumn) {
  const Dataset dataset = Generate({.samples = 900, .classes = 6, .houses = 3});
  PartitionOptions options = {.kind = "column", .column = "house"};
  options.within = std::make_shared<PartitionOptions>(
      PartitionOptions{.kind = "dirichlet", .silos = 2, .beta = 0.3, .labels = "group"});
  const Partition partition = Deal(dataset, options, 1);
  EXPECT_THAT(partition.names, UnorderedElementsAre("house-1/1", "house-1/2", "house-2/1",
                                                    "house-2/2", "house-3/1", "house-3/2"));
  size_t total = 0;
  for (int i = 0; i < partition.silos(); ++i) {
    total += partition.training[i].size();
    for (int64_t row : partition.training[i]) {
      EXPECT_EQ(dataset.items.Cell(row, "house"), partition.names[i].substr(0, 7));
    }
  }
  EXPECT_EQ(total, dataset.Split("training").size());
  // The houses hold equal mixes, so equal draws would give equal sizes.
  std::set<size_t> firsts;
  for (int i = 0; i < 6; i += 2) firsts.insert(partition.training[i].size());
  EXPECT_GT(firsts.size(), 1u);

  options.within->silos = 100;
  EXPECT_THAT(Refusal(dataset, options), HasSubstr("within silo 'house-"));
}

// A draw of its own deals every row once, the same for the same seed, and not
// in training's proportions: with beta 0.1 a class sits at one or two silos,
// and of 20 classes some must land elsewhere.
TEST(Partition, ASplitDealtAnewKnowsNothingOfTraining) {
  const Dataset dataset = Generate({.samples = 2000, .classes = 20});
  const PartitionOptions options = {.kind = "dirichlet", .silos = 5, .beta = 0.1};
  const Partition partition = Deal(dataset, options, 1);
  const auto anew = DealAnew(dataset, options, "query", 1);
  ASSERT_EQ(anew.size(), 5u);
  Rows all;
  for (const Rows& rows : anew) all.insert(all.end(), rows.begin(), rows.end());
  std::sort(all.begin(), all.end());
  Rows query = dataset.Split("query");
  std::sort(query.begin(), query.end());
  EXPECT_EQ(all, query);
  EXPECT_EQ(DealAnew(dataset, options, "query", 1), anew);
  EXPECT_NE(DealAnew(dataset, options, "query", 2), anew);
  EXPECT_NE(DealLike(dataset, partition, options, "query", 1), anew);
}

TEST(Partition, SaysWhatCannotHold) {
  const Dataset dataset = Even(3, 10);
  EXPECT_THAT(Refusal(dataset, {.kind = "dirichlet", .silos = 2, .beta = 0}),
              HasSubstr("partition.beta must be more than 0"));
  EXPECT_THAT(Refusal(dataset, {.kind = "iid", .silos = 31}), HasSubstr("30 training samples"));
  EXPECT_THAT(Refusal(dataset, {.kind = "iid", .silos = 0}), HasSubstr("partition.silos"));
  EXPECT_THAT(Refusal(dataset, {.kind = "column", .column = "hous"}), HasSubstr("'hous'"));
  EXPECT_THAT(Refusal(dataset, {.kind = "dirichlet", .silos = 4}), HasSubstr("smaller minimum"));
  EXPECT_THAT(
      Refusal(dataset,
              {.kind = "dirichlet", .silos = 10, .beta = 0.001, .minimum = 3, .capped = false}),
      HasSubstr("fewer silos, a larger beta or a smaller minimum"));
  EXPECT_THAT(
      Refusal(dataset,
              {.kind = "dirichlet", .silos = 10, .beta = 0.001, .minimum = 0, .capped = false}),
      AllOf(HasSubstr("silo '"), HasSubstr("got no samples")));
  EXPECT_THAT(Refusal(dataset, {.kind = "dirichlett"}), HasSubstr("did you mean 'dirichlet'"));
  EXPECT_THAT(Refusal(dataset, {.kind = "noniid-unequal", .silos = 2}), HasSubstr("1 shards"));
  EXPECT_THAT(Refusal(dataset, {.kind = "noniid-unequal", .silos = 2, .shard = 0}),
              HasSubstr("at least 1"));
}

TEST(Partition, OptionsComeFromTheFile) {
  const Config config = Config::Parse(
      "[partition]\nkind = 'column'\ncolumn = 'house'\n"
      "[partition.within]\nkind = 'dirichlet'\nsilos = 3\nbeta = 0.3\nlabels = 'group'\n",
      "x.toml");
  const auto options = PartitionOptions::From(config.Table("partition"));
  config.Finish();
  EXPECT_EQ(options.kind, "column");
  ASSERT_TRUE(options.within);
  EXPECT_EQ(options.within->beta, 0.3);
  EXPECT_EQ(options.within->labels, "group");
  EXPECT_FALSE(options.within->within);
  EXPECT_THAT(config.Resolved(), HasSubstr("[partition.within]"));

  const Config bad = Config::Parse("beta = 0.0", "bad.toml");
  EXPECT_THROW(PartitionOptions::From(bad), Error);
}

}  // namespace
}  // namespace crossilo

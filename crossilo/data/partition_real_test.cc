#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "crossilo/data/arrays.h"
#include "crossilo/data/describe.h"
#include "crossilo/data/partition.h"

// Dealing published data sets: numbers as they are in the papers' own data.

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::Ge;

fs::path SharedData(const std::string& name) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  return shared == nullptr ? fs::path() : fs::path(shared) / "data" / name;
}

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

TEST(PartitionReal, WikipediaOverTenSilos) {
  const fs::path folder = SharedData("wikipedia");
  if (!fs::exists(folder)) GTEST_SKIP() << "no shared data here";
  const auto in = [&](const char* name) { return ReadArray((folder / name).string()); };
  Dataset dataset;
  dataset.name = "wikipedia";
  dataset.image = ToTensor(in("image_cnn128.npy"));
  dataset.text = ToTensor(in("text_tfidf_svd200.npy"));
  dataset.labels[""] = ToTensor(in("labels.npy"));
  dataset.splits["training"] = ToRows(in("train.npy"), 0, "train.npy");
  dataset.splits["query"] = ToRows(in("test.npy"), 0, "test.npy");

  const PartitionOptions options = {.kind = "dirichlet", .silos = 10, .beta = 0.5};
  const Partition partition = Deal(dataset, options, 1);
  const Description dealt = Describe(dataset, &partition, "");
  EXPECT_EQ(Sum(dealt.totals), 2173);
  EXPECT_THAT(dealt.totals, Each(Ge(10)));
  EXPECT_EQ(dealt.labels_per_sample, 1);

  // Queries dealt the same way have nearly the same mix: far nearer, class by
  // class, than the silos are to one another.
  const Partition asked = {partition.names, DealLike(dataset, partition, options, "query", 1)};
  const Description queries = Describe(dataset, &asked, "");
  EXPECT_EQ(Sum(queries.totals), 693);
  for (size_t c = 0; c < 10; ++c) {
    double trained = 0, ask = 0;
    for (size_t i = 0; i < 10; ++i) {
      trained += static_cast<double>(dealt.counts[i][c]);
      ask += static_cast<double>(queries.counts[i][c]);
    }
    for (size_t i = 0; i < 10; ++i) {
      const double quota = static_cast<double>(dealt.counts[i][c]) / trained * ask;
      EXPECT_NEAR(static_cast<double>(queries.counts[i][c]), quota, 1);
    }
  }
}

TEST(PartitionReal, MirflickrHasManyLabelsASampleAndIsClustered) {
  const fs::path file = SharedData("mirflickr25k_tags") / "mirflickr25k-lall.mat";
  if (!fs::exists(file)) GTEST_SKIP() << "no shared data here";
  Dataset dataset;
  dataset.name = "mirflickr25k";
  dataset.labels[""] = ToTensor(ReadArray(file.string())).to(torch::kByte);
  ASSERT_EQ(dataset.labels.at("").size(0), 20015);
  // The pictures are not to be had: the labels stand in for their features.
  dataset.image = dataset.text = dataset.labels.at("").to(torch::kFloat);
  dataset.splits["training"] = Rows(20015);
  std::iota(dataset.splits["training"].begin(), dataset.splits["training"].end(), 0);

  const PartitionOptions options = {
      .kind = "dirichlet", .silos = 10, .beta = 0.1, .minimum = 1, .capped = false};
  const Partition partition = Deal(dataset, options, 1);
  const Description dealt = Describe(dataset, &partition, "");
  EXPECT_EQ(Sum(dealt.totals), 20015);
  EXPECT_GT(dealt.labels_per_sample, 1.5);

  // Clusters carry label skew: the mixes are further apart than in an even deal.
  const Partition even = Deal(dataset, {.kind = "iid", .silos = 10}, 1);
  EXPECT_GT(dealt.imbalance, 5 * Describe(dataset, &even, "").imbalance);
}

}  // namespace
}  // namespace crossilo

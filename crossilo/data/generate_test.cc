#include "crossilo/data/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

TEST(Generate, WithoutNoiseNearestNeighboursAreTheClass) {
  const Dataset dataset = Generate({.samples = 120, .classes = 6, .noise = 0});
  const torch::Tensor same =
      dataset.labels.at("").to(torch::kFloat).matmul(dataset.labels.at("").to(torch::kFloat).t()) >
      0;
  for (const torch::Tensor& x : {dataset.image, dataset.text}) {
    const torch::Tensor apart = torch::cdist(x, x, 2, /*compute_mode=*/2);
    // Equal to the last bit inside a class, far away outside.
    EXPECT_EQ(apart.masked_select(same).max().item<float>(), 0);
    EXPECT_GT(apart.masked_select(~same).min().item<float>(), 0.3);
    EXPECT_TRUE(torch::allclose(x.norm(2, 1), torch::ones({120})));
  }
}

TEST(Generate, NoiseHasTheDeviationAskedFor) {
  const Dataset clean = Generate({.samples = 2000, .noise = 0});
  const Dataset noisy = Generate({.samples = 2000, .noise = 0.25});
  // 2000 * 64 draws: the deviation's own deviation is .25 / sqrt(256000) = .0005.
  EXPECT_NEAR((noisy.image - clean.image).std().item<double>(), 0.25, 0.0025);
}

TEST(Generate, CaptionsAndGroupsFollowTheClasses) {
  const Dataset dataset = Generate({.samples = 130, .classes = 130, .houses = 2});
  const auto& names = dataset.class_names.at("");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 130u);
  const auto& groups = dataset.class_names.at("group");
  EXPECT_EQ(std::set<std::string>(groups.begin(), groups.end()).size(), 65u);
  EXPECT_EQ(names[0], "red circle");
  EXPECT_EQ(names[1], "blue circle");
  EXPECT_EQ(groups[0], "circle");
  for (int i = 0; i < 130; ++i) {
    EXPECT_THAT(std::string(dataset.items.Cell(i, "caption")), HasSubstr(names[i]));
    EXPECT_EQ(dataset.labels.at("group")[i][i / 2].item<int>(), 1);
  }
}

TEST(Generate, SplitsAndHousesCoverTheSamples) {
  const Dataset dataset = Generate({.samples = 500, .houses = 3, .query = 0.2});
  EXPECT_EQ(dataset.Split("query").size(), 100u);
  EXPECT_EQ(dataset.Split("training"), dataset.Split("retrieval"));
  std::set<int64_t> all(dataset.Split("query").begin(), dataset.Split("query").end());
  all.insert(dataset.Split("training").begin(), dataset.Split("training").end());
  EXPECT_EQ(all.size(), 500u);
  std::set<std::string> houses;
  for (int i = 0; i < 500; ++i) houses.emplace(dataset.items.Cell(i, "house"));
  EXPECT_EQ(houses, (std::set<std::string>{"house-1", "house-2", "house-3"}));
}

TEST(Generate, SecondLabelsComeAsOftenAsAskedFor) {
  const Dataset dataset = Generate({.samples = 4000, .multi_label = 0.3});
  const torch::Tensor labels = dataset.labels.at("").sum(1);
  EXPECT_EQ(labels.max().item<int>(), 2);
  EXPECT_EQ(labels.min().item<int>(), 1);
  // Deviation sqrt(.3 * .7 / 4000) = .0072.
  EXPECT_NEAR(labels.to(torch::kFloat).mean().item<double>(), 1.3, 5 * 0.0072);
}

TEST(Generate, SeedsReproduceAndDiffer) {
  const Dataset a = Generate({.samples = 50}), b = Generate({.samples = 50});
  const Dataset c = Generate({.samples = 50, .seed = 2});
  EXPECT_TRUE(torch::equal(a.image, b.image));
  EXPECT_EQ(a.items.rows, b.items.rows);
  EXPECT_EQ(a.splits, b.splits);
  EXPECT_FALSE(torch::equal(a.image, c.image));
}

TEST(Generate, RefusesWhatCannotBe) {
  EXPECT_THROW(Generate({.samples = 1}), Error);
  EXPECT_THROW(Generate({.classes = 0}), Error);
  EXPECT_THROW(Generate({.noise = -1}), Error);
  EXPECT_THROW(Generate({.multi_label = 1.5}), Error);
  EXPECT_THROW(Generate({.query = 1}), Error);
}

}  // namespace
}  // namespace crossilo

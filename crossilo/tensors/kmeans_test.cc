#include "crossilo/tensors/kmeans.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// `per` points around each of `k` far corners.
torch::Tensor Blobs(int64_t k, int64_t per, int64_t dims, double noise, uint64_t seed) {
  Random random(seed);
  const torch::Tensor corners = 10 * RandomNormal({k, dims}, random);
  return corners.repeat_interleave(per, 0) + noise * RandomNormal({k * per, dims}, random);
}

int64_t Distinct(const torch::Tensor& assignment) {
  return std::get<0>(at::_unique(assignment)).numel();
}

TEST(KMeans, FindsTwoPairsOnALine) {
  // {0, 1} and {10, 12}: means 0.5 and 11, error 2 * 0.25 + 2 * 1 = 2.5.
  const torch::Tensor points = torch::tensor({0.0f, 10.0f, 1.0f, 12.0f}).reshape({4, 1});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const KMeans found = Cluster(points, {.clusters = 2}, random);
    std::vector<float> centres = {found.centres[0].item<float>(), found.centres[1].item<float>()};
    std::sort(centres.begin(), centres.end());
    EXPECT_EQ(centres, (std::vector<float>{0.5f, 11.0f})) << seed;
    EXPECT_NEAR(found.error, 2.5, 1e-6);
  }
}

TEST(KMeans, RecoversBlobsWhateverTheBlockOrType) {
  const torch::Tensor points = Blobs(5, 40, 8, 0.1, 1);
  for (const torch::Tensor& x : {points, points.to(torch::kHalf)}) {
    for (int64_t block : {7, 8192}) {
      Random random(3);
      const KMeans found = Cluster(x, {.clusters = 5, .block = block}, random);
      for (int64_t blob = 0; blob < 5; ++blob) {
        EXPECT_EQ(Distinct(found.assignment.slice(0, 40 * blob, 40 * blob + 40)), 1);
      }
      EXPECT_EQ(Distinct(found.assignment), 5);
    }
  }
}

TEST(KMeans, AssignsToTheNearestAsBruteForceDoes) {
  Random random(4);
  const torch::Tensor points = RandomNormal({300, 6}, random);
  const KMeans found = Cluster(points, {.clusters = 9, .iterations = 500}, random);
  const auto nearest = torch::cdist(points.to(torch::kDouble), found.centres.to(torch::kDouble), 2,
                                    /*compute_mode=*/2)
                           .argmin(1);
  EXPECT_TRUE(torch::equal(found.assignment, nearest));
  EXPECT_TRUE(
      torch::equal(NearestCentre(points, found.centres, Distance::kEuclidean, 11), nearest));
  for (int64_t c = 0; c < 9; ++c) {
    const torch::Tensor mean = points.index({found.assignment == c}).mean(0);
    EXPECT_TRUE(torch::allclose(found.centres[c], mean, 1e-5, 1e-6));
  }
}

TEST(KMeans, CosineIgnoresLength) {
  // Two directions, lengths from 1 to 100; Euclidean would split by length.
  const torch::Tensor points =
      torch::tensor({1.0f, 0.0f, 100.0f, 1.0f, 50.0f, 0.0f, 0.0f, 1.0f, 1.0f, 100.0f, 0.0f, 2.0f})
          .reshape({6, 2});
  Random random(1);
  const KMeans found = Cluster(points, {.clusters = 2, .distance = Distance::kCosine}, random);
  EXPECT_EQ(Distinct(found.assignment.slice(0, 0, 3)), 1);
  EXPECT_EQ(Distinct(found.assignment.slice(0, 3, 6)), 1);
  EXPECT_EQ(Distinct(found.assignment), 2);
  EXPECT_TRUE(torch::allclose(found.centres.norm(2, 1), torch::ones({2})));
}

TEST(KMeans, TiesGoToTheLowestIndex) {
  const torch::Tensor centres = torch::tensor({-1.0f, 1.0f, 1.0f}).reshape({3, 1});
  const torch::Tensor points = torch::tensor({0.0f, 1.0f}).reshape({2, 1});
  const torch::Tensor nearest = NearestCentre(points, centres, Distance::kEuclidean);
  EXPECT_TRUE(torch::equal(nearest, torch::tensor({0, 1}, torch::kLong)));
}

TEST(KMeans, LeavesNoClusterEmpty) {
  // Six equal points and one other, five clusters: three must be repaired.
  torch::Tensor points = torch::zeros({7, 2});
  points[6] = 5;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const KMeans found = Cluster(points, {.clusters = 5}, random);
    EXPECT_EQ(Distinct(found.assignment), 5);
    EXPECT_EQ(found.error, 0);
  }
}

TEST(KMeans, RefusesOrLowersTooManyClusters) {
  const torch::Tensor points = torch::arange(3, torch::kFloat).reshape({3, 1});
  Random random(1);
  EXPECT_THROW(Cluster(points, {.clusters = 4}, random), Error);
  EXPECT_THROW(Cluster(points, {.clusters = 0}, random), Error);
  EXPECT_THROW(Cluster(points.slice(0, 0, 0), {.clusters = 1, .fewer = true}, random), Error);
  const KMeans found = Cluster(points, {.clusters = 4, .fewer = true}, random);
  EXPECT_EQ(found.centres.size(0), 3);
  EXPECT_EQ(Distinct(found.assignment), 3);
}

TEST(KMeans, IsTheSameForTheSameSeedOnAnyNumberOfThreads) {
  Random random(8);
  const torch::Tensor points = RandomNormal({2000, 32}, random);
  std::vector<KMeans> runs;
  const int before = at::get_num_threads();
  for (int threads : {1, 2, 2}) {
    at::set_num_threads(threads);
    Random stream(5);
    runs.push_back(Cluster(points, {.clusters = 20, .iterations = 10}, stream));
  }
  at::set_num_threads(before);
  for (const KMeans& run : runs) {
    EXPECT_TRUE(torch::equal(run.centres, runs[0].centres));
    EXPECT_TRUE(torch::equal(run.assignment, runs[0].assignment));
  }
  Random other(6);
  const KMeans differs = Cluster(points, {.clusters = 20, .iterations = 10}, other);
  EXPECT_FALSE(torch::equal(differs.assignment, runs[0].assignment));
}

}  // namespace
}  // namespace crossilo

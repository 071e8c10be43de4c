// How far is k-means from the products it cannot avoid?
//
// 200,000 points of 64 dimensions, 100 clusters, cosine, 20 rounds of Lloyd's
// algorithm: k-means++ start, assignment, means, repair of empty clusters.  The
// floor is the 20 products of all points with all centres alone, block by
// block.  Prints both and their ratio; the right answer is 4 or less.

#include "crossilo/tensors/kmeans.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "crossilo/tensors/random_tensor.h"
#include "crossilo/train/threads.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kPoints = 200'000, kDims = 64, kClusters = 100, kIterations = 20, kBlock = 8192;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Floor(const torch::Tensor& points) {
  const torch::Tensor centres = torch::randn({kClusters, kDims});
  torch::Tensor out = torch::empty({kBlock, kClusters});
  const auto start = Clock::now();
  for (int64_t i = 0; i < kIterations; ++i) {
    for (int64_t at = 0; at + kBlock <= kPoints; at += kBlock) {
      torch::mm_out(out, points.slice(0, at, at + kBlock), centres.t());
    }
  }
  return Since(start);
}

}  // namespace

int main() {
  crossilo::UseThreads(1);
  crossilo::Random random(1);
  // Around 300 places, so that 100 clusters keep moving.
  const torch::Tensor places = 3 * crossilo::RandomNormal({300, kDims}, random);
  const torch::Tensor points =
      places.index_select(0, crossilo::RandomPermutation(kPoints, random).remainder(300)) +
      crossilo::RandomNormal({kPoints, kDims}, random);
  double floor = 1e9, ours = 1e9, error = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    floor = std::min(floor, Floor(points));
    crossilo::Random draws(2);
    const auto start = Clock::now();
    const auto result = crossilo::Cluster(
        points,
        {.clusters = kClusters, .iterations = kIterations, .distance = crossilo::Distance::kCosine},
        draws);
    ours = std::min(ours, Since(start));
    error = result.error;
  }
  std::printf("%ld x %ld, %ld clusters, %ld rounds, one thread, squared error %.0f\n",
              static_cast<long>(kPoints), static_cast<long>(kDims), static_cast<long>(kClusters),
              static_cast<long>(kIterations), error);
  std::printf("the products alone  %6.2f s    1.00\n", floor);
  std::printf("k-means             %6.2f s    %.2f\n", ours, ours / floor);
  return ours / floor <= 4 ? 0 : 1;
}

#pragma once

#include <cstdint>

#include "crossilo/base/random.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

enum class Distance {
  kEuclidean,
  kCosine,  // rows and centres scaled to length 1; a row of zeros is as far from every centre
};

struct KMeansOptions {
  int64_t clusters = 10;
  int64_t iterations = 100;  // most rounds of Lloyd's algorithm
  Distance distance = Distance::kEuclidean;
  // With fewer points than clusters: one cluster a point, instead of an Error.
  bool fewer = false;
  int64_t block = 8192;  // points compared with the centres at a time; bounds the memory
};

struct KMeans {
  torch::Tensor centres;     // k x d, float
  torch::Tensor assignment;  // n, int64, in [0, k); no cluster is empty
  double error = 0;          // sum of squared distances of points to their centres
};

// Lloyd's algorithm from a k-means++ start (Arthur and Vassilvitskii 2007), on
// the CPU.  `points` is n x d of any float type.  A centre is the mean of its
// points (of length 1, with cosine).  An empty cluster takes the point that is
// farthest from its own centre.  Of equal distances the lowest index wins.
// Throws Error on no points, or on fewer points than clusters unless `fewer`.
KMeans Cluster(const torch::Tensor& points, const KMeansOptions& options, Random& random);

// The nearest centre of every point: n, int64.
torch::Tensor NearestCentre(const torch::Tensor& points, const torch::Tensor& centres,
                            Distance distance, int64_t block = 8192);

}  // namespace crossilo

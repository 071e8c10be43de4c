#include "crossilo/tensors/kmeans.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "crossilo/base/error.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

// Squared distances below are between these: with rows of length 1 the
// squared Euclidean distance is 2 - 2 cos, so one algorithm serves both.
torch::Tensor Prepared(const torch::Tensor& rows, Distance distance) {
  torch::Tensor x = rows.to(torch::kCPU, torch::kFloat).contiguous();
  if (distance == Distance::kCosine) x = UnitRows(x);
  return x;
}

// The points, prepared a block at a time, so that half-precision features or
// mapped files are never copied whole.
class Points {
 public:
  Points(const torch::Tensor& rows, Distance distance, int64_t block)
      : rows_(rows), distance_(distance), block_(std::max<int64_t>(block, 1)) {}

  int64_t size() const { return rows_.size(0); }
  torch::Tensor Row(int64_t i) const { return Prepared(rows_.slice(0, i, i + 1), distance_); }

  template <typename F>
  void ForEachBlock(F visit) const {
    for (int64_t at = 0; at < size(); at += block_) {
      visit(at, Prepared(rows_.slice(0, at, std::min(at + block_, size())), distance_));
    }
  }

 private:
  torch::Tensor rows_;
  Distance distance_;
  int64_t block_;
};

using Squares = std::vector<double>;  // a squared distance for every point

void CopyOut(const torch::Tensor& from, double* to) {
  const torch::Tensor wide = from.to(torch::kDouble).contiguous();
  std::copy_n(wide.data_ptr<double>(), wide.numel(), to);
}

// Eight sums side by side, which the compiler may keep in one register without
// being allowed to change the order of additions.
double SquaredDistance(const float* a, const float* b, int64_t dims) {
  std::array<float, 8> sums = {};
  int64_t j = 0;
  for (; j + 8 <= dims; j += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      const float apart = a[j + lane] - b[j + lane];
      sums[lane] += apart * apart;
    }
  }
  double sum = 0;
  for (; j < dims; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  for (float lane : sums) sum += lane;
  return sum;
}

// The squared distance of each row of `x` from the centre that `of` names.
template <typename F>
void DistancesFrom(const torch::Tensor& x, F of, double* to) {
  const float* rows = x.data_ptr<float>();
  const int64_t dims = x.size(1);
  at::parallel_for(0, x.size(0), 1024, [&](int64_t from, int64_t end) {
    for (int64_t i = from; i < end; ++i) to[i] = SquaredDistance(rows + i * dims, of(i), dims);
  });
}

int64_t DrawInProportion(const Squares& weights, Random& random) {
  double total = 0;
  for (double w : weights) total += w;
  // Every point coincides with a centre: any of them will do.
  if (!(total > 0)) return static_cast<int64_t>(random.Below(weights.size()));
  double left = random.Uniform() * total;
  int64_t last = 0;  // rounding may leave `left` just above the sum
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = static_cast<int64_t>(i);
    left -= weights[i];
    if (left < 0) break;
  }
  return last;
}

torch::Tensor SpreadOut(const Points& points, int64_t k, Random& random) {
  std::vector<torch::Tensor> centres = {
      points.Row(static_cast<int64_t>(random.Below(points.size())))};
  Squares nearest(points.size(), std::numeric_limits<double>::infinity());
  Squares now(points.size());
  while (static_cast<int64_t>(centres.size()) < k) {
    points.ForEachBlock([&](int64_t at, const torch::Tensor& x) {
      const float* centre = centres.back().data_ptr<float>();
      DistancesFrom(
          x, [&](int64_t) { return centre; }, now.data() + at);
    });
    for (size_t i = 0; i < now.size(); ++i) nearest[i] = std::min(nearest[i], now[i]);
    centres.push_back(points.Row(DrawInProportion(nearest, random)));
  }
  return torch::cat(centres);
}

// Fills `to` with the nearest centre of each point and, where asked for,
// `squares` with its distance: |x|^2 - 2 x.c + |c|^2.
void Assign(const Points& points, const torch::Tensor& centres, int64_t* to, Squares* squares) {
  const torch::Tensor lengths = centres.square().sum(1);
  const torch::Tensor turned = centres.t();
  points.ForEachBlock([&](int64_t at, const torch::Tensor& x) {
    const auto [least, index] = torch::addmm(lengths, x, turned, 1, -2).min(1);
    std::copy_n(index.data_ptr<int64_t>(), index.numel(), to + at);
    if (squares) CopyOut((least + x.square().sum(1)).clamp_min(0), squares->data() + at);
  });
}

void FillEmpty(int64_t k, std::vector<int64_t>& assignment, Squares& squares) {
  std::vector<int64_t> count(k);
  for (int64_t c : assignment) ++count[c];
  for (int64_t empty = 0; empty < k; ++empty) {
    if (count[empty] > 0) continue;
    int64_t farthest = -1;  // found: k <= n, so some cluster has two points
    for (size_t i = 0; i < assignment.size(); ++i) {
      if (count[assignment[i]] < 2) continue;
      if (farthest < 0 || squares[i] > squares[farthest]) farthest = static_cast<int64_t>(i);
    }
    --count[assignment[farthest]];
    assignment[farthest] = empty;
    ++count[empty];
    squares[farthest] = 0;
  }
}

// Summed point by point in double, so that the result does not depend on how
// many threads there are.
torch::Tensor Means(const Points& points, const std::vector<int64_t>& assignment, int64_t k,
                    int64_t dims, Distance distance) {
  torch::Tensor sums = torch::zeros({k, dims}, torch::kDouble);
  std::vector<double> count(k);
  double* sum = sums.data_ptr<double>();
  points.ForEachBlock([&](int64_t at, const torch::Tensor& x) {
    const float* row = x.data_ptr<float>();
    for (int64_t i = 0; i < x.size(0); ++i, row += dims) {
      const int64_t c = assignment[at + i];
      ++count[c];
      for (int64_t j = 0; j < dims; ++j) sum[c * dims + j] += row[j];
    }
  });
  for (int64_t c = 0; c < k; ++c) sums[c].div_(count[c]);
  return Prepared(sums, distance);
}

}  // namespace

KMeans Cluster(const torch::Tensor& points, const KMeansOptions& options, Random& random) {
  const int64_t n = points.size(0), dims = points.size(1);
  if (n == 0) throw Error("k-means: there are no points; give it at least one");
  if (options.clusters < 1)
    throw Error("k-means: {} clusters; ask for 1 or more", options.clusters);
  if (options.clusters > n && !options.fewer) {
    throw Error("k-means: {} clusters of {} points; ask for at most {}", options.clusters, n, n);
  }
  torch::NoGradGuard no_grad;
  const int64_t k = std::min(options.clusters, n);
  const Points rows(points, options.distance, options.block);
  torch::Tensor centres = SpreadOut(rows, k, random);
  std::vector<int64_t> assignment(n, -1), next(n);
  Squares squares(n);
  for (int64_t i = 0; i < std::max<int64_t>(options.iterations, 1); ++i) {
    Assign(rows, centres, next.data(), &squares);
    FillEmpty(k, next, squares);
    if (next == assignment) break;
    assignment = next;
    centres = Means(rows, assignment, k, dims, options.distance);
  }
  KMeans result{centres, torch::tensor(assignment, torch::kLong)};
  const float* centre = centres.data_ptr<float>();
  rows.ForEachBlock([&](int64_t at, const torch::Tensor& x) {
    const auto own = [&](int64_t i) { return centre + assignment[at + i] * dims; };
    DistancesFrom(x, own, squares.data() + at);
  });
  for (double square : squares) result.error += square;
  return result;
}

torch::Tensor NearestCentre(const torch::Tensor& points, const torch::Tensor& centres,
                            Distance distance, int64_t block) {
  torch::NoGradGuard no_grad;
  torch::Tensor nearest = torch::empty({points.size(0)}, torch::kLong);
  Assign(Points(points, distance, block), Prepared(centres, distance), nearest.data_ptr<int64_t>(),
         nullptr);
  return nearest;
}

}  // namespace crossilo

#include "crossilo/models/neighbour_graph.h"

#include <algorithm>
#include <cmath>

namespace crossilo {
namespace {

// Entries of a block of rows on which P is computed: its temporaries take about
// 25 bytes an entry.
constexpr int64_t kBlock = 1 << 22;

// Cosines of samples with nothing in common are this small by rounding; a row of
// such must not become a sum of 1.
constexpr double kNothing = 1e-6;

torch::Tensor InverseLength(const torch::Tensor& rows) {
  return rows.norm(2, 1).clamp_min(1e-12).reciprocal();
}

}  // namespace

NeighbourGraph::NeighbourGraph(torch::Tensor image, torch::Tensor text,
                               const NeighbourGraphOptions& options)
    : image_(std::move(image)), text_(std::move(text)), options_(options) {
  torch::NoGradGuard no_grad;
  image_scale_ = InverseLength(image_);
  text_scale_ = InverseLength(text_);
  const int64_t n = image_.size(0);
  scale_ = std::round(options.scale * static_cast<double>(n));
  // As a double first: a large setting must not overflow.
  discarded_ = static_cast<int64_t>(
      std::min(static_cast<double>(n), std::round(options.discarded * scale_)));
}

torch::Tensor NeighbourGraph::Pair(const torch::Tensor& rows) const {
  const auto cosines = [&](const torch::Tensor& x, const torch::Tensor& scale, double weight) {
    const torch::Tensor own = (weight * scale).index_select(0, rows).unsqueeze(1);
    return (x.index_select(0, rows) * own).mm(x.t()).mul_(scale);
  };
  return cosines(text_, text_scale_, options_.a1)
      .add_(cosines(image_, image_scale_, 1 - options_.a1));
}

torch::Tensor NeighbourGraph::Transition(const torch::Tensor& pair) const {
  torch::Tensor P = torch::threshold(pair, kNothing, 0);
  if (discarded_ > 0) {
    const torch::Tensor last = std::get<0>(pair.kthvalue(discarded_, 1, /*keepdim=*/true));
    const torch::Tensor below = pair.lt(last), equal = pair.eq(last);
    const torch::Tensor left = discarded_ - below.sum(1, /*keepdim=*/true, torch::kInt);
    P.masked_fill_(below, 0);
    P.masked_fill_(equal.logical_and(equal.cumsum(1, torch::kInt).le(left)), 0);
  }
  P.scatter_(1, pair.argmax(1, /*keepdim=*/true), 0);
  const torch::Tensor sum = P.sum(1, /*keepdim=*/true);
  return P.div_(sum.masked_fill(sum.eq(0), 1));
}

torch::Tensor NeighbourGraph::Blend(torch::Tensor pair, const torch::Tensor& P) const {
  const double a2 = options_.a2;
  return pair.addmm_(P, P.t(), 2 * (1 - a2), 2 * a2 * scale_).sub_(1);
}

void NeighbourGraph::ComputeAll() {
  const int64_t n = image_.size(0), block = std::max<int64_t>(1, kBlock / n);
  S_ = torch::empty({n, n}, image_.options());
  torch::Tensor P = torch::empty_like(S_);
  const torch::Tensor all =
      torch::arange(n, torch::TensorOptions(image_.device()).dtype(torch::kLong));
  for (int64_t at = 0; at < n; at += block) {
    const int64_t end = std::min(n, at + block);
    const torch::Tensor pair = Pair(all.slice(0, at, end));
    S_.slice(0, at, end).copy_(pair);
    P.slice(0, at, end).copy_(Transition(pair));
  }
  Blend(S_, P);
}

torch::Tensor NeighbourGraph::Target(const torch::Tensor& rows) {
  torch::NoGradGuard no_grad;
  const int64_t n = image_.size(0), m = rows.size(0);
  const torch::Tensor at = rows.to(image_.device());
  if (n <= options_.kept) {
    if (!S_.defined()) ComputeAll();
    return S_.take(at.unsqueeze(1) * n + at);
  }
  torch::Tensor P = torch::empty({m, n}, image_.options()),
                pair = torch::empty({m, m}, P.options());
  const int64_t block = std::max<int64_t>(1, kBlock / n);
  for (int64_t from = 0; from < m; from += block) {
    const int64_t to = std::min(m, from + block);
    const torch::Tensor some = Pair(at.slice(0, from, to));
    pair.slice(0, from, to).copy_(some.index_select(1, at));
    P.slice(0, from, to).copy_(Transition(some));
  }
  return Blend(pair, P);
}

}  // namespace crossilo

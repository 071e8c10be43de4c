#pragma once

#include "crossilo/tensors/torch.h"

namespace crossilo {

struct NeighbourGraphOptions {
  double a1 = 0.3;          // weight of text in S_pair; images have 1 - a1
  double a2 = 0.3;          // weight of common neighbours in S; S_pair has 1 - a2
  double scale = 0.9;       // of P P^T, times the samples
  double discarded = 0.45;  // least alike samples that are no neighbours, times the scale
  // S is kept for so many samples at most, 100 MiB; for more it is computed
  // again for every batch.  The literature's training sets have 5,000 samples.
  int64_t kept = 5120;
};

// How alike a silo's samples should become, from their features and from the
// neighbours that they share: DGCPN's graph-neighbour coherence.
//   S_pair = a1 cos(T, T) + (1 - a1) cos(I, I)
//   P = S_pair less, in every row, its `discarded` smallest entries and its
//       largest one (normally the sample itself), scaled to row sums of 1
//   S = 2 [(1 - a2) S_pair + a2 scale P P^T] - 1
// With n samples, scale = round(options.scale n) and discarded =
// round(options.discarded scale).  Of equal entries the one with the lowest
// number goes first.  An entry of P below 1e-6 counts as 0, and a row without a
// larger one stays 0; so S is finite for any number of samples.
class NeighbourGraph {
 public:
  // One row a sample; scaled to length 1 on the way, and not copied.
  NeighbourGraph(torch::Tensor image, torch::Tensor text, const NeighbourGraphOptions& options);

  // S[rows, rows], on the features' device.  Needs O(m n) memory for m rows, and
  // O(n^2) only where n <= options.kept.  Not for two threads at once.
  torch::Tensor Target(const torch::Tensor& rows);

 private:
  torch::Tensor Pair(const torch::Tensor& rows) const;        // S_pair[rows, :]
  torch::Tensor Transition(const torch::Tensor& pair) const;  // P of rows of S_pair
  // `pair` becomes S, from square blocks of S_pair and P P^T.
  torch::Tensor Blend(torch::Tensor pair, const torch::Tensor& P) const;
  void ComputeAll();

  torch::Tensor image_, text_;
  torch::Tensor image_scale_, text_scale_;  // 1 / length, n
  NeighbourGraphOptions options_;
  double scale_;
  int64_t discarded_;
  torch::Tensor S_;  // n x n from the first Target on; undefined where n > kept
};

}  // namespace crossilo

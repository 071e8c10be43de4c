#pragma once

#include <algorithm>
#include <vector>

#include "crossilo/models/hash_model.h"
#include "crossilo/models/plan_pairs.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

// What models with one real-valued space for both modalities share.

// Length of each row; the small constant keeps the gradient of a zero row
// defined.
inline torch::Tensor RowNorms(const torch::Tensor& a) { return (a.square().sum(1) + 1e-24).sqrt(); }

inline torch::Tensor MeanNorm(const torch::Tensor& a) { return RowNorms(a).mean(); }

// mean_ij [log(1 + e^th_ij) - similar_ij th_ij], th_ij = 1/2 cos(a_i, b_j)
inline torch::Tensor Likelihood(const torch::Tensor& a, const torch::Tensor& b,
                                const torch::Tensor& similar) {
  const torch::Tensor lengths = RowNorms(a).unsqueeze(1) * RowNorms(b);
  const torch::Tensor theta = 0.5 * a.mm(b.t()) / lengths.clamp_min(1e-6);
  return (torch::softplus(theta) - similar * theta).mean();
}

}  // namespace crossilo

#pragma once

#include <vector>

#include "crossilo/tensors/torch.h"

namespace crossilo {

// MOON's model contrast, a scalar: how much less a batch's representations z
// resemble the global model's than the previous local models', all n x d and
// of the same samples,
//
//   l_con = -mean_i log( e^(cos(z_i, g_i)/tau) / (e^(cos(z_i, g_i)/tau)
//                        + sum_p e^(cos(z_i, p_i)/tau)) ),   g = z_glob, p in z_prev
//
// Zero, as is its gradient, without previous models or without rows.  A row of
// zeros has cosine 0 to everything and no gradient.  Gradients flow into
// whatever of the arguments asks for them; callers freeze all but z.
inline torch::Tensor ModelContrast(const torch::Tensor& z, const torch::Tensor& z_glob,
                                   const std::vector<torch::Tensor>& z_prev, double tau) {
  if (z.size(0) == 0) return z.sum();
  const auto unit = [](const torch::Tensor& rows) {
    constexpr double kTiny = 1e-12;
    const torch::Tensor norms = rows.norm(2, 1, /*keepdim=*/true);
    return torch::where(norms > kTiny, rows / norms.clamp_min(kTiny), torch::zeros_like(rows));
  };
  const torch::Tensor own = unit(z);
  std::vector<torch::Tensor> cosines = {(own * unit(z_glob)).sum(1)};
  for (const torch::Tensor& p : z_prev) cosines.push_back((own * unit(p)).sum(1));
  const torch::Tensor logits = torch::stack(cosines, 1) / tau;
  return (torch::logsumexp(logits, 1) - logits.select(1, 0)).mean();
}

}  // namespace crossilo

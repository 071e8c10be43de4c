#pragma once

#include <limits>

#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

// SimCLR's contrast (Chen et al., ICML 2020), a scalar: among the 2m rows z of a
// and b (m x d each, scaled to length 1), row i of a belongs to row i of b,
//
//   NT = -mean over the 2m rows of log( e^(<z, z+>/t) / sum over the others e^(<z, z'>/t) )
//
// With m = 1 it is 0 without a gradient: nothing else is there.  Zero without
// rows.
inline torch::Tensor NtXent(const torch::Tensor& a, const torch::Tensor& b, double t) {
  const int64_t m = a.size(0);
  if (m == 0) return a.sum() + b.sum();
  const torch::Tensor z_a = UnitRows(a), z_b = UnitRows(b), z = torch::cat({z_a, z_b});
  const torch::Tensor self = torch::eye(2 * m, z.options().dtype(torch::kBool));
  const torch::Tensor logits =
      (z.mm(z.t()) / t).masked_fill(self, -std::numeric_limits<double>::infinity());
  // Both rows of a pair have the same positive.
  return torch::logsumexp(logits, 1).mean() - ((z_a * z_b).sum(1) / t).mean();
}

}  // namespace crossilo

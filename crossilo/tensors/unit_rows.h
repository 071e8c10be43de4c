#pragma once

#include "crossilo/tensors/torch.h"

namespace crossilo {

// Rows scaled to length 1; a row of zeros stays one.
inline torch::Tensor UnitRows(const torch::Tensor& rows) {
  return rows / rows.norm(2, 1, /*keepdim=*/true).clamp_min(1e-12);
}

}  // namespace crossilo

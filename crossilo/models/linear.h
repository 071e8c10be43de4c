#pragma once

#include "crossilo/tensors/torch.h"

namespace crossilo {

// x W^T + b, differentiable once.  The same numbers as torch::linear, but the
// gradient of W is written to memory that this thread used for it before: a
// fresh 4096 x 4096 gradient costs as much in page faults as half the product
// that fills it.
torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);

}  // namespace crossilo

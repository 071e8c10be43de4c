#pragma once

#include <vector>

#include "crossilo/base/random.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// Float tensors filled from our own stream, so that a seed gives the same
// weights with every version of libtorch and on every device.
torch::Tensor RandomNormal(torch::IntArrayRef shape, Random& random);
torch::Tensor RandomUniform(torch::IntArrayRef shape, double low, double high, Random& random);

// 0 .. n-1 in random order, as int64.
torch::Tensor RandomPermutation(int64_t n, Random& random);

torch::Tensor IndexTensor(const std::vector<int64_t>& rows);

}  // namespace crossilo

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "crossilo/tensors/torch.h"

namespace crossilo {

// A named set of tensors: weights, control variates, prototypes.  The only
// thing that crosses a silo's wall.  Sorted by name, so that every silo
// stores, sends, masks and hashes it in the same order.
using TensorMap = std::map<std::string, torch::Tensor>;

// Element by element.  Both sides must have the same names.
TensorMap operator+(const TensorMap& a, const TensorMap& b);
TensorMap operator-(const TensorMap& a, const TensorMap& b);
TensorMap operator*(double factor, const TensorMap& a);
TensorMap ZerosLike(const TensorMap& a);

// Every tensor detached and copied, on the given device.
TensorMap Copy(const TensorMap& a, torch::Device device = torch::kCPU);

// One map may carry several under prefixes: Prefixed("c/", c) and back again.
TensorMap Prefixed(std::string_view prefix, const TensorMap& a);
TensorMap Under(std::string_view prefix, const TensorMap& a);

// Bytes of all elements.
int64_t Bytes(const TensorMap& a);

// The name of the first tensor with a NaN or an infinity, or "".
std::string FirstNotFinite(const TensorMap& a);

}  // namespace crossilo

#pragma once

// The door through which libtorch comes in: tensors and autograd.  All of
// <torch/torch.h> would double the time and the memory that a file costs to
// compile; a file that needs more of it (TorchScript, CUDA) says so itself.

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

namespace torch {
using NoGradGuard = at::NoGradGuard;
}  // namespace torch

#pragma once

#include "crossilo/codes/packed_codes.h"
#include "crossilo/data/dataset.h"
#include "crossilo/models/hash_model.h"

namespace crossilo {

// Relaxed codes of the given rows, float32 on the CPU, encoded block by block
// so that a mapped dataset is never held whole.
torch::Tensor EncodeRows(const HashModel& model, Modality modality, const torch::Tensor& features,
                         const Rows& rows);

// One part of what the model computes of every row of `x` (such as
// &Encoded::code), on its device, block by block and without gradients; `noise`
// as Encode's.
torch::Tensor EncodeAll(const HashModel& model, Modality modality, const torch::Tensor& x,
                        torch::Tensor Encoded::*part, Random* noise = nullptr);

// The bits: 1 where the relaxed code is positive.
PackedCodes Binarize(const torch::Tensor& relaxed);

}  // namespace crossilo

#pragma once

#include "crossilo/tensors/torch.h"

namespace crossilo {

// FedX's relational loss, which PT-FUCH has with prototypes for anchors: how
// differently two views of the same samples lie to the anchors.  Rows of x1 and
// x2 (m x d) are views of one sample, anchors are a x d,
//
//   q_v = softmax_row(cos(x_v, anchors) / t),
//   target = (softmax_row(cos(x_1, anchors) / t2) + softmax_row(cos(x_2, anchors) / t2)) / 2
//   JS = mean over rows of (KL(target || q_1) + KL(target || q_2)) / 2
//
// Gradients flow through the target too, as in both authors' code.  A row of
// zeros has cosine 0 to everything.  Zero without rows or anchors.
torch::Tensor RelationalLoss(const torch::Tensor& x1, const torch::Tensor& x2,
                             const torch::Tensor& anchors, double t, double t2);

}  // namespace crossilo

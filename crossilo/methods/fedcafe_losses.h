#pragma once

#include "crossilo/tensors/torch.h"

namespace crossilo {

// The terms that FedCAFE adds to one modality's batch.  A weight of 0 leaves a
// term out.
struct CafeWeights {
  double alpha = 0, eta = 0, gamma = 0;
  bool normalised_kl = false;
};

struct CafeBatch {
  torch::Tensor O;         // b x r, the raw features
  torch::Tensor logits;    // b x C, of Lhat; for gamma or with a memory
  torch::Tensor memory;    // P_g, C x r; undefined: V_E = O
  torch::Tensor globally;  // b x r, (V^x + V^y) / 2 of the received model; for eta
  torch::Tensor labels;    // b x C; for gamma
};

struct CafeLoss {
  torch::Tensor sum;  // alpha L_E + eta L_C + gamma L_P, differentiable in O and logits
  double l_e = 0, l_c = 0, l_p = 0;
};

//   L_E = mean of 1 - <V^, O^>,  L_C = mean of 1 - <V^, (V^x + V^y) / 2>   (5), (6)
//   L_P = -1/(b C) sum of log Lhat over labels, or KL(l/|l|, Lhat)         (7)
// with ^ for length 1 and V_E = O + tanh(O) * softmax(logits) P_g.  One node of
// the graph with its gradient in closed form: as forty it takes longer than a
// small silo's whole step.
CafeLoss CafeTerms(const CafeBatch& batch, const CafeWeights& weights);

}  // namespace crossilo

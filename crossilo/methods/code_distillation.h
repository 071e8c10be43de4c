#pragma once

#include "crossilo/tensors/torch.h"

namespace crossilo {

// How far a batch's relaxed codes h are from a teacher's g, both n x r and of
// the same samples: KL(teacher || student), a scalar, 0 without rows.  Codes are
// not distributions, so something must be made of them first.  Gradients flow
// into whatever of the arguments asks for them; callers freeze g.

// FedUCH's code: the bits of a code compete,
//   T^2 mean_i KL(softmax(g_i / T) || softmax(h_i / T))
inline torch::Tensor SoftmaxDistillation(const torch::Tensor& h, const torch::Tensor& g, double T) {
  if (h.size(0) == 0) return h.sum();
  const torch::Tensor student = torch::log_softmax(h / T, 1),
                      teacher = torch::log_softmax(g / T, 1);
  return T * T * (teacher.exp() * (teacher - student)).sum(1).mean();
}

// Every bit is a coin that shows 1 with probability p(h) = (1 + h) / 2,
//   mean_i sum_b KL(p(g_ib) || p(h_ib))
// Outside of (-1, 1) p is 0 or 1 and has no gradient: not for a base whose codes
// are not bounded.
inline torch::Tensor BernoulliDistillation(const torch::Tensor& h, const torch::Tensor& g) {
  if (h.size(0) == 0) return h.sum();
  constexpr double kTiny = 1e-6;
  const torch::Tensor p = (0.5 * (1 + g)).clamp(kTiny, 1 - kTiny);
  const torch::Tensor q = (0.5 * (1 + h)).clamp(kTiny, 1 - kTiny);
  const torch::Tensor kl = p * (p.log() - q.log()) + (1 - p) * ((1 - p).log() - (1 - q).log());
  return kl.sum(1).mean();
}

}  // namespace crossilo

#pragma once

#include <algorithm>
#include <vector>

#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

// An epoch that trains one network after the other: about n / batch image
// steps, then as many text steps.  A pass takes every sample once, the last
// step what is left; with `fresh`, each of floor(n / batch) steps is a new
// random subset.  A silo smaller than the batch trains on all it has.
inline std::vector<Step> PlanAlternating(int64_t n, int64_t batch, bool fresh, Random& random) {
  const int64_t b = std::min(batch, n);
  std::vector<Step> steps;
  for (Modality m : kModalities) {
    const torch::Tensor order = RandomPermutation(n, random);
    for (int64_t at = 0; at < n; at += b) {
      if (!fresh) {
        steps.push_back({order.slice(0, at, std::min(n, at + b)), {m}});
      } else if (at + b <= n) {
        steps.push_back({RandomPermutation(n, random).slice(0, 0, b), {m}});
      }
    }
  }
  return steps;
}

}  // namespace crossilo

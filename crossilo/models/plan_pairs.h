#pragma once

#include <algorithm>
#include <vector>

#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

// Every sample once, both modalities in each step.
inline std::vector<Step> PlanPairs(int64_t n, int64_t batch, bool shuffle, Random& random) {
  const torch::Tensor order = shuffle ? RandomPermutation(n, random) : torch::arange(n);
  std::vector<Step> steps;
  for (int64_t at = 0; at < n; at += batch) {
    steps.push_back(
        {order.slice(0, at, std::min(n, at + batch)), {Modality::kImage, Modality::kText}});
  }
  return steps;
}

// The same, shuffled, for losses that hold a sample against the others of its
// batch: one alone has none and is left out, unless the silo has no more.
inline std::vector<Step> PlanGroups(int64_t n, int64_t batch, Random& random) {
  std::vector<Step> steps = PlanPairs(n, batch, /*shuffle=*/true, random);
  if (n > 1) std::erase_if(steps, [](const Step& step) { return step.rows.size(0) == 1; });
  return steps;
}

}  // namespace crossilo

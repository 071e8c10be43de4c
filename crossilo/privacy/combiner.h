#pragma once

#include <vector>

#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

// What one silo adds to a sum.
struct Share {
  double weight = 1;
  TensorMap tensors = {};
};

// Turns the silos' shares into their weighted mean.  What a combiner sees of a
// single share is what the hub learns of a single silo: the plain one sees all.
class Combiner {
 public:
  virtual ~Combiner() = default;
  // Empty shares have an empty mean.  All shares must have the same names.
  virtual TensorMap Mean(const std::vector<Share>& shares) = 0;
};

class PlainCombiner final : public Combiner {
 public:
  TensorMap Mean(const std::vector<Share>& shares) override;
};

}  // namespace crossilo

#pragma once

#include "crossilo/base/random.h"
#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

enum class GeneratorHealth { kFine = 0, kCollapsed = 1, kDiverged = 2, kTooFew = 3 };

// Diverged: a number is not finite, or rows are ten times as long as real ones
// on average.  Collapsed: rows lie closer to each other than `collapse` times
// the real ones do, or are less than a tenth as long.
GeneratorHealth HealthOf(const torch::Tensor& generated, const torch::Tensor& real,
                         double collapse);

// For how long a generator has been collapsed and come to nothing.  One that still
// grows is not given up: a linear one begins short, with its rows close together,
// and may take many trainings to be fine.
class CollapseCount {
 public:
  // What a training left.  Returns how many in a row left it collapsed, with rows
  // neither longer nor farther apart than the first of them.
  int64_t After(GeneratorHealth health, const torch::Tensor& generated);

  TensorMap State() const;
  void SetState(const TensorMap& state);

 private:
  int64_t count_ = 0;
  double length_ = 0, spread_ = 0;  // means, after the first of them
};

// Whether a generator repeats the samples it was trained on.
struct Memorisation {
  double generated = 0;  // median distance of a generated row to the nearest real one
  double real = 0;       // median distance of a real row to the nearest other real one
};
// `real` from `count` rows drawn.  Needs two real rows and a generated one.
Memorisation MeasureMemorisation(const torch::Tensor& generated, const torch::Tensor& real,
                                 int64_t count, Random& random);

}  // namespace crossilo

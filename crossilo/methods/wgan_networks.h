#pragma once

#include "crossilo/base/config.h"
#include "crossilo/base/random.h"
#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

// How a generator's rows end: as the last layer makes them; with both halves
// scaled to length 1; or with every number within +-1.
enum class GeneratorOutput { kLinear, kUnit, kTanh };

// Of a row: an image's features beside a text's.
struct PairShape {
  int64_t image_dims = 0, text_dims = 0;
  GeneratorOutput output = GeneratorOutput::kLinear;

  int64_t dims() const { return image_dims + text_dims; }
};

struct WganOptions {
  int64_t noise = 100, width = 256, critic_steps = 6, batch = 64;
  double dropout = 0.3, rate = 5e-5, clip = 0.01;

  static WganOptions From(const Config& table);
};

// Widths noise, w, 2w, 4w, dims, with LeakyReLU(.2) between; and those of the
// critic, dims, 4w, 2w, w, 1.  Weights uniform in +-1/sqrt(in), as torch's.
TensorMap NewGenerator(const PairShape& shape, const WganOptions& options, Random& random);
TensorMap NewCritic(const PairShape& shape, const WganOptions& options, Random& random);
// Whether names, shapes and types are those of a generator and all numbers finite.
bool IsGenerator(const TensorMap& tensors, const PairShape& shape, const WganOptions& options);

// One row a row of noise.
torch::Tensor Generate(const TensorMap& generator, const PairShape& shape,
                       const torch::Tensor& noise);
// n scores.  With `random` the hidden layers drop a share of their outputs.
torch::Tensor Score(const TensorMap& critic, const torch::Tensor& rows, double dropout = 0,
                    Random* random = nullptr);

}  // namespace crossilo

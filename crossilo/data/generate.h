#pragma once

#include <cstdint>

#include "crossilo/data/dataset.h"

namespace crossilo {

// A made-up dataset whose right answers are known: every class has a random
// centre of length 1 in each modality, and a sample is its class's centre plus
// noise.  With noise 0 the nearest neighbours of a sample are exactly the
// samples of its class, in either modality.
struct GenerateOptions {
  int64_t samples = 2000;
  int64_t classes = 10;
  int64_t image_dims = 64, text_dims = 32;
  double noise = 0.1;      // deviation of the normal noise in every dimension
  double multi_label = 0;  // probability of a second class; features are then the mean of both
  int64_t houses = 3;      // values of the column "house", dealt in turn
  double query = 0.1;      // share of samples asked with; the others are retrieval and training
  uint64_t seed = 1;
};

// Labels "" (the classes) and "group" (classes 2g and 2g+1 together, which
// share a shape word); items id, caption ("a small red circle") and house; the
// caption's colour and shape name the class.  Throws Error on options out of
// range.
Dataset Generate(const GenerateOptions& options);

}  // namespace crossilo

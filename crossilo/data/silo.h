#pragma once

#include <string>

#include "crossilo/data/dataset.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// Samples in training: float32, one row a sample, on the training device.
struct Batch {
  torch::Tensor image, text;
  torch::Tensor labels;  // 0/1; undefined where the dataset has no labels
  torch::Tensor coarse;  // of the level above; undefined where none is learned

  int64_t size() const { return image.size(0); }
  Batch Select(const torch::Tensor& rows) const;  // rows: int64
};

// One participant's share of the data.  Never leaves the participant.
struct Silo {
  int id = 0;
  std::string name;
  Batch all;

  int64_t size() const { return all.size(); }
};

// Which label levels training reads.
struct LabelLevels {
  std::string fine;         // "" is the dataset's main level
  std::string coarse = {};  // the level above, or "" for none
};

// The given rows of a dataset as float32 tensors.  Without labels of that
// level `labels` stays undefined.
Batch Gather(const Dataset& dataset, const Rows& rows, const LabelLevels& levels,
             torch::Device device = torch::kCPU);

}  // namespace crossilo

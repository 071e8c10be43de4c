#pragma once

#include <vector>

#include "crossilo/data/dataset.h"
#include "crossilo/data/partition.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// One class a sample, as dealing by class needs it: the label where every
// given row has exactly one, else the nearest of k-means clusters of the given
// rows' image features (pseudo_labels of them, or as many as silos).
class Classes {
 public:
  // Settles what the classes are.  Throws Error where the level is not there;
  // a dataset without any labels is clustered.
  Classes(const Dataset& dataset, const Rows& rows, const PartitionOptions& options, uint64_t seed);

  int64_t count() const { return count_; }
  bool clustered() const { return centres_.defined(); }

  // The class of each row, which need not be among those given above.  Of
  // several labels the first; -1 for a row without any.
  std::vector<int> Of(const Rows& rows) const;

 private:
  torch::Tensor image_, labels_, centres_;  // labels_ or centres_, not both
  int64_t count_ = 0;
};

}  // namespace crossilo

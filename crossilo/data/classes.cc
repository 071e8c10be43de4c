#include "crossilo/data/classes.h"

#include "crossilo/tensors/kmeans.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

Classes::Classes(const Dataset& dataset, const Rows& rows, const PartitionOptions& options,
                 uint64_t seed)
    : image_(dataset.image) {
  const torch::Tensor index = IndexTensor(rows);
  if (options.pseudo_labels == 0 && !(dataset.labels.empty() && options.labels.empty())) {
    const torch::Tensor labels = dataset.Labels(options.labels) != 0;
    if (torch::all(labels.index_select(0, index).sum(1) == 1).item<bool>()) {
      labels_ = labels;
      count_ = labels.size(1);
      return;
    }
  }
  Random random(seed, {}, "partition.classes");
  const KMeansOptions means = {
      .clusters = options.pseudo_labels > 0 ? options.pseudo_labels : options.silos, .fewer = true};
  centres_ = Cluster(image_.index_select(0, index), means, random).centres;
  count_ = centres_.size(0);
}

std::vector<int> Classes::Of(const Rows& rows) const {
  if (rows.empty()) return {};
  const torch::Tensor index = IndexTensor(rows);
  torch::Tensor found;
  if (clustered()) {
    found = NearestCentre(image_.index_select(0, index), centres_, Distance::kEuclidean);
  } else {
    const auto [most, first] = labels_.index_select(0, index).to(torch::kByte).max(1);
    found = first.masked_fill(most == 0, -1);
  }
  const int64_t* at = found.data_ptr<int64_t>();
  return std::vector<int>(at, at + found.numel());
}

std::vector<int> ClassOf(const Dataset& dataset, const Rows& rows, const PartitionOptions& options,
                         uint64_t seed) {
  if (rows.empty()) return {};
  return Classes(dataset, rows, options, seed).Of(rows);
}

}  // namespace crossilo

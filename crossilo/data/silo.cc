#include "crossilo/data/silo.h"

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

torch::Tensor Take(const torch::Tensor& from, const torch::Tensor& rows, torch::Device device) {
  return from.index_select(0, rows).to(torch::kFloat).to(device);
}

}  // namespace

Batch Batch::Select(const torch::Tensor& rows) const {
  const torch::Tensor here = rows.to(image.device());
  return {image.index_select(0, here), text.index_select(0, here),
          labels.defined() ? labels.index_select(0, here) : torch::Tensor()};
}

Batch Gather(const Dataset& dataset, const Rows& rows, const std::string& level,
             torch::Device device) {
  const torch::Tensor index = IndexTensor(rows);
  Batch batch{Take(dataset.image, index, device), Take(dataset.text, index, device), {}};
  const auto labels = dataset.labels.find(level);
  if (labels != dataset.labels.end()) batch.labels = Take(labels->second, index, device);
  return batch;
}

}  // namespace crossilo

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
  const auto maybe = [&](const torch::Tensor& t) {
    return t.defined() ? t.index_select(0, here) : torch::Tensor();
  };
  return {image.index_select(0, here), text.index_select(0, here), maybe(labels), maybe(coarse)};
}

Batch Gather(const Dataset& dataset, const Rows& rows, const LabelLevels& levels,
             torch::Device device) {
  const torch::Tensor index = IndexTensor(rows);
  Batch batch{Take(dataset.image, index, device), Take(dataset.text, index, device), {}, {}};
  const auto labels = dataset.labels.find(levels.fine);
  if (labels != dataset.labels.end()) batch.labels = Take(labels->second, index, device);
  if (!levels.coarse.empty()) batch.coarse = Take(dataset.Labels(levels.coarse), index, device);
  return batch;
}

}  // namespace crossilo

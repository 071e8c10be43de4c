#include "crossilo/models/encode.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

torch::Tensor EncodeRows(const HashModel& model, Modality modality, const torch::Tensor& features,
                         const Rows& rows) {
  torch::NoGradGuard no_grad;
  constexpr size_t kBlock = 2048;
  const torch::Device device = model.parameters().begin()->second.device();
  torch::Tensor out = torch::empty({static_cast<int64_t>(rows.size()), model.code_dims()});
  for (size_t at = 0; at < rows.size(); at += kBlock) {
    const size_t end = std::min(rows.size(), at + kBlock);
    const torch::Tensor some = IndexTensor({rows.begin() + at, rows.begin() + end});
    const torch::Tensor x = features.index_select(0, some).to(device, torch::kFloat);
    out.slice(0, at, end).copy_(model.Encode(modality, x).code);
  }
  return out;
}

torch::Tensor EncodeAll(const HashModel& model, Modality modality, const torch::Tensor& x,
                        torch::Tensor Encoded::*part, Random* noise) {
  torch::NoGradGuard no_grad;
  constexpr int64_t kBlock = 2048;
  std::vector<torch::Tensor> parts;
  for (int64_t at = 0; at == 0 || at < x.size(0); at += kBlock) {
    const torch::Tensor some = x.slice(0, at, std::min(x.size(0), at + kBlock));
    parts.push_back(model.Encode(modality, some, noise).*part);
  }
  return parts.size() == 1 ? parts.front() : torch::cat(parts);
}

PackedCodes Binarize(const torch::Tensor& relaxed) {
  const torch::Tensor flat = relaxed.to(torch::kCPU, torch::kFloat).contiguous();
  return Pack(flat.data_ptr<float>(), flat.size(0), static_cast<int>(flat.size(1)));
}

}  // namespace crossilo

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

template <typename F>
torch::Tensor Fill(torch::IntArrayRef shape, F draw) {
  torch::Tensor out = torch::empty(shape, torch::kFloat);
  float* at = out.data_ptr<float>();
  for (int64_t i = 0, n = out.numel(); i < n; ++i) at[i] = static_cast<float>(draw());
  return out;
}

}  // namespace

torch::Tensor RandomNormal(torch::IntArrayRef shape, Random& random) {
  return Fill(shape, [&] { return random.Normal(); });
}

torch::Tensor RandomUniform(torch::IntArrayRef shape, double low, double high, Random& random) {
  return Fill(shape, [&] { return low + (high - low) * random.Uniform(); });
}

torch::Tensor RandomPermutation(int64_t n, Random& random) {
  return IndexTensor(random.Permutation(n));
}

torch::Tensor IndexTensor(const std::vector<int64_t>& rows) {
  return torch::tensor(rows, torch::kLong);
}

}  // namespace crossilo

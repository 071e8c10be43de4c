#include "crossilo/embed/projection.h"

#include <algorithm>

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// An eigenvector's sign is arbitrary: its entry of largest magnitude, the
// first of them, is made positive.
torch::Tensor FixSigns(const torch::Tensor& basis) {
  const torch::Tensor largest = basis.abs().argmax(0, /*keepdim=*/true);
  return basis * basis.gather(0, largest).sign();
}

}  // namespace

Pca FitPca(const torch::Tensor& x, int64_t dims) {
  const int64_t n = x.size(0), d = x.size(1);
  const torch::Tensor mean = x.mean(0, false, torch::kDouble);
  torch::Tensor covariance = torch::zeros({d, d}, torch::kDouble);
  for (int64_t start = 0; start < n; start += 4096) {
    const torch::Tensor part =
        x.narrow(0, start, std::min<int64_t>(4096, n - start)).to(torch::kDouble) - mean;
    covariance.addmm_(part.t(), part);
  }
  const auto [values, vectors] = at::linalg_eigh(covariance / static_cast<double>(n));
  dims = std::min({dims, d, std::max<int64_t>(n - 1, 1)});
  const torch::Tensor basis = vectors.narrow(1, d - dims, dims).flip(1);  // ascending before
  return {mean.to(torch::kFloat), FixSigns(basis).to(torch::kFloat).contiguous()};
}

torch::Tensor FitSvd(const torch::Tensor& x, int64_t dims) {
  dims = std::min({dims, x.size(0), x.size(1)});
  const int64_t wide = std::min({dims + 16, x.size(0), x.size(1)});
  Random random(1, {}, "randomised svd");
  torch::Tensor basis = RandomNormal({x.size(1), wide}, random);
  for (int i = 0; i < 6; ++i) {
    basis = std::get<0>(at::linalg_qr(x.t().mm(x.mm(basis))));
  }
  // Rayleigh-Ritz: inside the subspace the problem is small and exact.
  const torch::Tensor inside = x.mm(basis).to(torch::kDouble);
  const auto [values, vectors] = at::linalg_eigh(inside.t().mm(inside));
  const torch::Tensor strongest = vectors.narrow(1, wide - dims, dims).flip(1);
  return FixSigns(basis.mm(strongest.to(torch::kFloat))).contiguous();
}

void Project(const float* row, const torch::Tensor& basis, float* out) {
  const int64_t d = basis.size(0), dims = basis.size(1);
  const float* directions = basis.data_ptr<float>();
  std::fill_n(out, dims, 0.0f);
  for (int64_t i = 0; i < d; ++i) {
    if (row[i] == 0) continue;
    const float* direction = directions + i * dims;
    for (int64_t k = 0; k < dims; ++k) out[k] += row[i] * direction[k];
  }
}

}  // namespace crossilo

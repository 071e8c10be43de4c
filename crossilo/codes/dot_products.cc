#include "crossilo/codes/dot_products.h"

#include <algorithm>
#include <limits>

namespace crossilo {
namespace {

// Tiles of Q queries by R rows.  At the edges a tile repeats its last vector
// and the surplus products are dropped, so that kernels need no other shapes.
template <size_t Q, size_t R>
void Tiles(DotTile* tile, const float* queries, size_t count, const float* rows,
           std::span<const uint32_t> picked, size_t dim, float* out) {
  for (size_t i = 0; i < picked.size(); i += R) {
    const float* row[R];
    const size_t used_rows = std::min(R, picked.size() - i);
    for (size_t r = 0; r < R; ++r) {
      row[r] = rows + size_t{picked[i + std::min(r, used_rows - 1)]} * dim;
    }
    for (size_t j = 0; j < count; j += Q) {
      const float* query[Q];
      const size_t used = std::min(Q, count - j);
      for (size_t q = 0; q < Q; ++q) query[q] = queries + (j + std::min(q, used - 1)) * dim;
      float products[Q * R];
      tile(query, row, dim, products);
      for (size_t q = 0; q < used; ++q) {
        std::copy_n(products + q * R, used_rows, out + (j + q) * picked.size() + i);
      }
    }
  }
}

}  // namespace

std::vector<DotKernel> AvailableDotKernels() {
  std::vector<DotKernel> kernels = {dot_products::kPlain};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    kernels.push_back(dot_products::kAvx2);
    if (__builtin_cpu_supports("avx512f")) kernels.push_back(dot_products::kAvx512);
  }
#endif
  return kernels;
}

void FastDotProductsBy(const DotKernel& kernel, const float* queries, size_t count,
                       const float* rows, std::span<const uint32_t> picked, size_t dim,
                       float* out) {
  if (count == 1) return Tiles<1, 4>(kernel.one_by_four, queries, 1, rows, picked, dim, out);
  Tiles<4, 2>(kernel.four_by_two, queries, count, rows, picked, dim, out);
}

void FastDotProducts(const float* queries, size_t count, const float* rows,
                     std::span<const uint32_t> picked, size_t dim, float* out) {
  static const DotKernel fastest = AvailableDotKernels().back();
  FastDotProductsBy(fastest, queries, count, rows, picked, dim, out);
}

double DotProductError(size_t dim) {
  // A value passes at most dim / 4 + 32 roundings: the sums run in four or more
  // lanes, which are added up with what did not fill them, and the vectors have
  // been scaled.  gamma_n = n u / (1 - n u) (Higham, "Accuracy and Stability of
  // Numerical Algorithms", section 3.1), times |a| |b|, which is 1 + a few u.
  const double nu = (static_cast<double>(dim) / 4 + 32) / (1 << 24);
  return nu < 0.5 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
}

}  // namespace crossilo

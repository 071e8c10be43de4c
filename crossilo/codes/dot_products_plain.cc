// For any processor: the compiler turns vectors of 16 bytes into SSE, NEON or
// what else there is.
#include <cstring>

#include "crossilo/codes/dot_products.h"

namespace crossilo {
namespace {

constexpr size_t kLanes = 4;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

template <int Q, int R>
void Tile(const float* const* queries, const float* const* rows, size_t dim, float* out) {
  Lanes sums[Q * R] = {};
  size_t d = 0;
  for (; d + kLanes <= dim; d += kLanes) {
    Lanes row[R];
    for (int r = 0; r < R; ++r) std::memcpy(&row[r], rows[r] + d, sizeof(Lanes));
    for (int q = 0; q < Q; ++q) {
      Lanes query;
      std::memcpy(&query, queries[q] + d, sizeof(Lanes));
      for (int r = 0; r < R; ++r) sums[q * R + r] += query * row[r];
    }
  }
  for (int q = 0; q < Q; ++q) {
    for (int r = 0; r < R; ++r) {
      const Lanes& sum = sums[q * R + r];
      float product = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      for (size_t t = d; t < dim; ++t) product += queries[q][t] * rows[r][t];
      out[q * R + r] = product;
    }
  }
}

}  // namespace

const DotKernel dot_products::kPlain = {"plain", Tile<4, 2>, Tile<1, 4>};

}  // namespace crossilo

#include "crossilo/codes/cosine.h"

#include <cmath>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

constexpr size_t kLanes = 16;  // independent sums that the compiler keeps in vector registers

float Dot(const float* a, const float* b, size_t dim) {
  float lane[kLanes] = {};
  size_t d = 0;
  for (; d + kLanes <= dim; d += kLanes) {
    for (size_t l = 0; l < kLanes; ++l) lane[l] += a[d + l] * b[d + l];
  }
  for (size_t l = 0; d + l < dim; ++l) lane[l] += a[d + l] * b[d + l];
  for (size_t step = kLanes / 2; step > 0; step /= 2) {
    for (size_t l = 0; l < step; ++l) lane[l] += lane[l + step];
  }
  return lane[0];
}

}  // namespace

std::vector<float> UnitRows(std::span<const float> rows, int64_t dim) {
  if (dim < 1 || rows.size() % static_cast<size_t>(dim) != 0) {
    throw Error("{} values are no whole rows of length {}", rows.size(), dim);
  }
  std::vector<float> unit(rows.begin(), rows.end());
  for (size_t start = 0; start < unit.size(); start += dim) {
    double square = 0;  // the square of any finite float fits a double
    for (int64_t d = 0; d < dim; ++d) square += double{unit[start + d]} * unit[start + d];
    if (!std::isfinite(square)) {
      throw Error("row {} has a value that is not finite; its cosines mean nothing", start / dim);
    }
    if (square == 0) continue;
    const double scale = 1 / std::sqrt(square);
    for (int64_t d = 0; d < dim; ++d) unit[start + d] = static_cast<float>(unit[start + d] * scale);
  }
  return unit;
}

void DotProducts(const float* query, const float* rows, size_t n, size_t dim, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = Dot(query, rows + i * dim, dim);
}

}  // namespace crossilo

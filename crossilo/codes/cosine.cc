#include "crossilo/codes/cosine.h"

#include <algorithm>
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

typedef double Pair __attribute__((vector_size(16)));

Pair WidePair(const float* v) { return Pair{v[0], v[1]}; }

// Sums in double of a product of two floats, which double holds exactly, so
// that fusing it with the addition changes nothing; the order of the additions
// is written down here.  So every machine finds the same bits.
class WideSum {
 public:
  void Add(Pair low, Pair high) {
    low_ += low;
    high_ += high;
  }
  void Add(double rest) { rest_ += rest; }
  double Total() const { return ((low_[0] + low_[1]) + (high_[0] + high_[1])) + rest_; }

 private:
  Pair low_ = {}, high_ = {};
  double rest_ = 0;
};

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

double SquaredLength(const float* row, size_t dim) {
  WideSum squares;
  size_t d = 0;
  for (; d + 4 <= dim; d += 4) {
    const Pair low = WidePair(row + d), high = WidePair(row + d + 2);
    squares.Add(low * low, high * high);
  }
  for (; d < dim; ++d) squares.Add(double{row[d]} * row[d]);
  return squares.Total();
}

double Cosine(const float* a, const float* b, size_t dim) {
  WideSum aa, ab, bb;
  size_t d = 0;
  for (; d + 4 <= dim; d += 4) {
    const Pair a_low = WidePair(a + d), a_high = WidePair(a + d + 2);
    const Pair b_low = WidePair(b + d), b_high = WidePair(b + d + 2);
    aa.Add(a_low * a_low, a_high * a_high);
    ab.Add(a_low * b_low, a_high * b_high);
    bb.Add(b_low * b_low, b_high * b_high);
  }
  for (; d < dim; ++d) {
    aa.Add(double{a[d]} * a[d]);
    ab.Add(double{a[d]} * b[d]);
    bb.Add(double{b[d]} * b[d]);
  }
  const double of_a = aa.Total(), of_b = bb.Total();
  if (!std::isfinite(of_a) || !std::isfinite(of_b)) return NAN;
  if (of_a == 0 || of_b == 0) return 0;
  return ab.Total() / (std::sqrt(of_a) * std::sqrt(of_b));
}

float CosineDistance(double cosine) {
  return 1 - static_cast<float>(std::clamp(cosine, -1.0, 1.0));
}

}  // namespace crossilo

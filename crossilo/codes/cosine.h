#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

// Rows of length dim scaled to length 1, so that a dot product of two of them
// is their cosine; a zero row stays zero and so has cosine 0 to everything.
// Throws Error where the values are no whole rows or one is not finite.
std::vector<float> UnitRows(std::span<const float> rows, int64_t dim);

// out[i] = dot product of `query` (dim) with row i of `rows` (n x dim).  The
// additions come in the same order for every row, so equal rows have exactly
// equal products.
void DotProducts(const float* query, const float* rows, size_t n, size_t dim, float* out);

// The cosine of two vectors, from sums in double: right to about 1e-15 whatever
// their lengths, the same bits on every machine.  0 where one of them is zero,
// NaN where a value is not finite.
double Cosine(const float* a, const float* b, size_t dim);

// 1 - cosine, from 0 to 2.  The cosine is rounded to float first: else 1e-16
// would keep a vector from being at distance 0 from itself, and vectors of one
// direction from being equally near.
float CosineDistance(double cosine);

// The sum of squares in double, which holds the square of any float.
double SquaredLength(const float* row, size_t dim);

}  // namespace crossilo

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

}  // namespace crossilo

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

// out[q * picked.size() + i] = dot product of query q (queries: count x dim,
// one after another) with row picked[i] of `rows` (rows of length dim), by the
// fastest kernel this processor has.  The order of the additions is the
// kernel's, so the last bits are not the same on every machine: use it to tell
// which rows deserve Cosine.  Safe to call from many threads.
void FastDotProducts(const float* queries, size_t count, const float* rows,
                     std::span<const uint32_t> picked, size_t dim, float* out);

// What a product above, of vectors of length about 1, may be off by at most,
// in any of the kernels: infinite where dim is so large that nothing is sure.
// It covers vectors that were scaled to length 1 and rounded, too.
double DotProductError(size_t dim);

// out[q * R + r] = dot product of queries[q] and rows[r], for Q x R of them at
// once, because a value that is in a register may as well be used Q or R times.
using DotTile = void(const float* const* queries, const float* const* rows, size_t dim, float* out);

struct DotKernel {
  const char* name;      // "plain", "avx2", "avx512"
  DotTile* four_by_two;  // Q = 4, R = 2
  DotTile* one_by_four;  // Q = 1, R = 4
};

namespace dot_products {
extern const DotKernel kPlain;
#if defined(__x86_64__)
extern const DotKernel kAvx2, kAvx512;
#endif
}  // namespace dot_products

// The kernels that run on this processor, plain first, fastest last.
std::vector<DotKernel> AvailableDotKernels();

// FastDotProducts by one of them.
void FastDotProductsBy(const DotKernel& kernel, const float* queries, size_t count,
                       const float* rows, std::span<const uint32_t> picked, size_t dim, float* out);

}  // namespace crossilo

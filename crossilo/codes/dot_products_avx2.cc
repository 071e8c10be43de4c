#include "crossilo/codes/dot_products.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CROSSILO_AVX2 __attribute__((target("avx2,fma")))

namespace crossilo {
namespace {

constexpr size_t kLanes = 8;

// The sums of a's, b's, c's and d's lanes.
CROSSILO_AVX2 inline __m128 AddLanes(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256 sums = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
  return _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
}

// What did not fill the lanes, from d on.
template <int Q, int R>
void AddRest(const float* const* queries, const float* const* rows, size_t d, size_t dim,
             float* out) {
  for (; d < dim; ++d) {
    for (int i = 0; i < Q * R; ++i) out[i] += queries[i / R][d] * rows[i % R][d];
  }
}

// Sums have names because GCC 12 keeps arrays of them in memory.
CROSSILO_AVX2 void FourByTwo(const float* const* queries, const float* const* rows, size_t dim,
                             float* out) {
  __m256 a0 = _mm256_setzero_ps(), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
  size_t d = 0;
  for (; d + kLanes <= dim; d += kLanes) {
    const __m256 row0 = _mm256_loadu_ps(rows[0] + d), row1 = _mm256_loadu_ps(rows[1] + d);
    __m256 query = _mm256_loadu_ps(queries[0] + d);
    a0 = _mm256_fmadd_ps(query, row0, a0);
    a1 = _mm256_fmadd_ps(query, row1, a1);
    query = _mm256_loadu_ps(queries[1] + d);
    b0 = _mm256_fmadd_ps(query, row0, b0);
    b1 = _mm256_fmadd_ps(query, row1, b1);
    query = _mm256_loadu_ps(queries[2] + d);
    c0 = _mm256_fmadd_ps(query, row0, c0);
    c1 = _mm256_fmadd_ps(query, row1, c1);
    query = _mm256_loadu_ps(queries[3] + d);
    d0 = _mm256_fmadd_ps(query, row0, d0);
    d1 = _mm256_fmadd_ps(query, row1, d1);
  }
  _mm_storeu_ps(out, AddLanes(a0, a1, b0, b1));
  _mm_storeu_ps(out + 4, AddLanes(c0, c1, d0, d1));
  AddRest<4, 2>(queries, rows, d, dim, out);
}

// The products of two vectors, in lanes still, up to the last whole ones.
CROSSILO_AVX2 inline __m256 Products(const float* query, const float* row, size_t whole) {
  __m256 a = _mm256_setzero_ps(), b = a, c = a, e = a;
  size_t d = 0;
  for (; d + 4 * kLanes <= whole; d += 4 * kLanes) {
    a = _mm256_fmadd_ps(_mm256_loadu_ps(query + d), _mm256_loadu_ps(row + d), a);
    b = _mm256_fmadd_ps(_mm256_loadu_ps(query + d + 8), _mm256_loadu_ps(row + d + 8), b);
    c = _mm256_fmadd_ps(_mm256_loadu_ps(query + d + 16), _mm256_loadu_ps(row + d + 16), c);
    e = _mm256_fmadd_ps(_mm256_loadu_ps(query + d + 24), _mm256_loadu_ps(row + d + 24), e);
  }
  for (; d < whole; d += kLanes) {
    a = _mm256_fmadd_ps(_mm256_loadu_ps(query + d), _mm256_loadu_ps(row + d), a);
  }
  return _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, e));
}

// Row by row: one query waits for memory, which is fastest read in order.
CROSSILO_AVX2 void OneByFour(const float* const* queries, const float* const* rows, size_t dim,
                             float* out) {
  const size_t whole = dim / kLanes * kLanes;
  const __m256 a = Products(queries[0], rows[0], whole), b = Products(queries[0], rows[1], whole);
  const __m256 c = Products(queries[0], rows[2], whole), e = Products(queries[0], rows[3], whole);
  _mm_storeu_ps(out, AddLanes(a, b, c, e));
  AddRest<1, 4>(queries, rows, whole, dim, out);
}

}  // namespace

const DotKernel dot_products::kAvx2 = {"avx2", FourByTwo, OneByFour};

}  // namespace crossilo
#endif

#include "crossilo/codes/dot_products.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__GNUC__) && !defined(__clang__)
// GCC's own headers leave registers undefined on purpose (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define CROSSILO_AVX512 __attribute__((target("avx512f,avx2,fma")))

namespace crossilo {
namespace {

constexpr size_t kLanes = 16;

CROSSILO_AVX512 inline __m256 Halve(__m512 v) {
  const __m512d high = _mm512_castps_pd(v);
  return _mm256_add_ps(_mm512_castps512_ps256(v),
                       _mm256_castpd_ps(_mm512_extractf64x4_pd(high, 1)));
}

// The sums of a's, b's, c's and d's lanes.
CROSSILO_AVX512 inline __m128 AddLanes(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m256 ab = _mm256_hadd_ps(Halve(a), Halve(b));
  const __m256 sums = _mm256_hadd_ps(ab, _mm256_hadd_ps(Halve(c), Halve(d)));
  return _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
}

// The lanes that are left at d.
CROSSILO_AVX512 inline __mmask16 Left(size_t d, size_t dim) {
  return dim - d >= kLanes ? __mmask16{0xffff} : static_cast<__mmask16>((1u << (dim - d)) - 1);
}

// Sums have names because GCC 12 keeps arrays of them in memory.
CROSSILO_AVX512 void FourByTwo(const float* const* queries, const float* const* rows, size_t dim,
                               float* out) {
  __m512 a0 = _mm512_setzero_ps(), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
  for (size_t d = 0; d < dim; d += kLanes) {
    const __mmask16 left = Left(d, dim);
    const __m512 row0 = _mm512_maskz_loadu_ps(left, rows[0] + d);
    const __m512 row1 = _mm512_maskz_loadu_ps(left, rows[1] + d);
    __m512 query = _mm512_maskz_loadu_ps(left, queries[0] + d);
    a0 = _mm512_fmadd_ps(query, row0, a0);
    a1 = _mm512_fmadd_ps(query, row1, a1);
    query = _mm512_maskz_loadu_ps(left, queries[1] + d);
    b0 = _mm512_fmadd_ps(query, row0, b0);
    b1 = _mm512_fmadd_ps(query, row1, b1);
    query = _mm512_maskz_loadu_ps(left, queries[2] + d);
    c0 = _mm512_fmadd_ps(query, row0, c0);
    c1 = _mm512_fmadd_ps(query, row1, c1);
    query = _mm512_maskz_loadu_ps(left, queries[3] + d);
    d0 = _mm512_fmadd_ps(query, row0, d0);
    d1 = _mm512_fmadd_ps(query, row1, d1);
  }
  _mm_storeu_ps(out, AddLanes(a0, a1, b0, b1));
  _mm_storeu_ps(out + 4, AddLanes(c0, c1, d0, d1));
}

// The products of two vectors, in lanes still.
CROSSILO_AVX512 inline __m512 Products(const float* query, const float* row, size_t dim) {
  __m512 a = _mm512_setzero_ps(), b = a, c = a, e = a;
  size_t d = 0;
  for (; d + 4 * kLanes <= dim; d += 4 * kLanes) {
    a = _mm512_fmadd_ps(_mm512_loadu_ps(query + d), _mm512_loadu_ps(row + d), a);
    b = _mm512_fmadd_ps(_mm512_loadu_ps(query + d + 16), _mm512_loadu_ps(row + d + 16), b);
    c = _mm512_fmadd_ps(_mm512_loadu_ps(query + d + 32), _mm512_loadu_ps(row + d + 32), c);
    e = _mm512_fmadd_ps(_mm512_loadu_ps(query + d + 48), _mm512_loadu_ps(row + d + 48), e);
  }
  for (; d < dim; d += kLanes) {
    const __mmask16 left = Left(d, dim);
    a = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(left, query + d),
                        _mm512_maskz_loadu_ps(left, row + d), a);
  }
  return _mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, e));
}

// Row by row: one query waits for memory, which is fastest read in order.
CROSSILO_AVX512 void OneByFour(const float* const* queries, const float* const* rows, size_t dim,
                               float* out) {
  const __m512 a = Products(queries[0], rows[0], dim), b = Products(queries[0], rows[1], dim);
  const __m512 c = Products(queries[0], rows[2], dim), e = Products(queries[0], rows[3], dim);
  _mm_storeu_ps(out, AddLanes(a, b, c, e));
}

}  // namespace

const DotKernel dot_products::kAvx512 = {"avx512", FourByTwo, OneByFour};

}  // namespace crossilo
#endif

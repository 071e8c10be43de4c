#include "crossilo/codes/hamming.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__GNUC__) && !defined(__clang__)
// GCC's own headers leave registers undefined on purpose (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define CROSSILO_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))
#endif

namespace crossilo {

#if defined(__x86_64__)
namespace {

CROSSILO_AVX512 inline __m512i Differing(const uint64_t* codes, __m512i query, __mmask8 mask) {
  return _mm512_popcnt_epi64(
      _mm512_xor_si512(_mm512_maskz_loadu_epi64(mask, codes), _mm512_maskz_mov_epi64(mask, query)));
}

CROSSILO_AVX512 inline __m512i Differing(const uint64_t* codes, __m512i query) {
  return _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(codes), query));
}

// {a0+a1, a2+a3, a4+a5, a6+a7, b0+b1, ...}
CROSSILO_AVX512 inline __m512i AddPairs(__m512i a, __m512i b) {
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return _mm512_add_epi64(_mm512_permutex2var_epi64(a, even, b),
                          _mm512_permutex2var_epi64(a, odd, b));
}

// The distances of eight codes of kWords words, one a lane, in order.
template <int kWords>
CROSSILO_AVX512 inline __m512i Eight(const uint64_t* codes, __m512i query) {
  if constexpr (kWords == 1) {
    return Differing(codes, query);
  } else if constexpr (kWords == 2) {
    return AddPairs(Differing(codes, query), Differing(codes + 8, query));
  } else {
    return AddPairs(AddPairs(Differing(codes, query), Differing(codes + 8, query)),
                    AddPairs(Differing(codes + 16, query), Differing(codes + 24, query)));
  }
}

CROSSILO_AVX512 void AnyWords(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
                              uint16_t* out) {
  for (size_t i = 0; i < n; ++i, codes += words) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t w = 0; w < words; w += 8) {
      const __mmask8 mask =
          words - w >= 8 ? __mmask8{0xff} : static_cast<__mmask8>((1u << (words - w)) - 1);
      const __m512i q = _mm512_maskz_loadu_epi64(mask, query + w);
      sum = _mm512_add_epi64(sum, Differing(codes + w, q, mask));
    }
    out[i] = static_cast<uint16_t>(_mm512_reduce_add_epi64(sum));
  }
}

template <int kWords>
CROSSILO_AVX512 void Eights(const uint64_t* query, const uint64_t* codes, size_t n, uint16_t* out) {
  alignas(64) uint64_t repeated[8];
  for (int j = 0; j < 8; ++j) repeated[j] = query[j % kWords];
  const __m512i q = _mm512_load_si512(repeated);
  size_t i = 0;
  for (; i + 8 <= n; i += 8, codes += 8 * kWords) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm512_cvtepi64_epi16(Eight<kWords>(codes, q)));
  }
  AnyWords(query, codes, n - i, kWords, out + i);
}

void Distances(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
               uint16_t* out) {
  if (words == 1) return Eights<1>(query, codes, n, out);
  if (words == 2) return Eights<2>(query, codes, n, out);
  if (words == 4) return Eights<4>(query, codes, n, out);
  AnyWords(query, codes, n, words, out);
}

}  // namespace

HammingFunction* const hamming::kAvx512 = Distances;
#else
HammingFunction* const hamming::kAvx512 = nullptr;
#endif

}  // namespace crossilo

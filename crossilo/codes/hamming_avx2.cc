// Counts bits by looking up each half byte (W. Muła, N. Kurz, D. Lemire,
// "Faster Population Counts Using AVX2 Instructions", 2018).
#include "crossilo/codes/hamming.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CROSSILO_AVX2 __attribute__((target("avx2,popcnt")))
#endif

namespace crossilo {

#if defined(__x86_64__)
namespace {

// The bits set in each of the four 64-bit lanes.
CROSSILO_AVX2 inline __m256i CountBits(__m256i v) {
  const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(v, nibble));
  const __m256i high =
      _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
  return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

CROSSILO_AVX2 inline __m256i Differing(const uint64_t* codes, __m256i query) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  return CountBits(_mm256_xor_si256(v, query));
}

// {a0+a1, b0+b1, a2+a3, b2+b3}
CROSSILO_AVX2 inline __m256i AddPairs(__m256i a, __m256i b) {
  return _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

// The distances of four codes of kWords words, one a lane, in order.
template <int kWords>
CROSSILO_AVX2 inline __m256i Four(const uint64_t* codes, __m256i query) {
  if constexpr (kWords == 1) {
    return Differing(codes, query);
  } else if constexpr (kWords == 2) {
    const __m256i sums = AddPairs(Differing(codes, query), Differing(codes + 4, query));
    return _mm256_permute4x64_epi64(sums, _MM_SHUFFLE(3, 1, 2, 0));
  } else {
    const __m256i ab = AddPairs(Differing(codes, query), Differing(codes + 4, query));
    const __m256i cd = AddPairs(Differing(codes + 8, query), Differing(codes + 12, query));
    return _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20),
                            _mm256_permute2x128_si256(ab, cd, 0x31));
  }
}

CROSSILO_AVX2 void AnyWords(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
                            uint16_t* out) {
  for (size_t i = 0; i < n; ++i, codes += words) {
    int distance = 0;
    for (size_t w = 0; w < words; ++w) distance += __builtin_popcountll(query[w] ^ codes[w]);
    out[i] = static_cast<uint16_t>(distance);
  }
}

template <int kWords>
CROSSILO_AVX2 void Sixteens(const uint64_t* query, const uint64_t* codes, size_t n, uint16_t* out) {
  const __m256i q =
      kWords == 1 ? _mm256_set1_epi64x(static_cast<int64_t>(query[0]))
      : kWords == 2
          ? _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(query)))
          : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(query));
  size_t i = 0;
  for (; i + 16 <= n; i += 16, codes += 16 * kWords) {
    const __m256i a = Four<kWords>(codes, q);
    const __m256i b = Four<kWords>(codes + 4 * kWords, q);
    const __m256i c = Four<kWords>(codes + 8 * kWords, q);
    const __m256i d = Four<kWords>(codes + 12 * kWords, q);
    // Packing works inside 128-bit halves: a0 a1 b0 b1 c0 c1 d0 d1 | a2 a3 ...
    const __m256i packed =
        _mm256_packus_epi32(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
    const __m256i in_order =
        _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), in_order);
  }
  AnyWords(query, codes, n - i, kWords, out + i);
}

void Distances(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
               uint16_t* out) {
  if (words == 1) return Sixteens<1>(query, codes, n, out);
  if (words == 2) return Sixteens<2>(query, codes, n, out);
  if (words == 4) return Sixteens<4>(query, codes, n, out);
  AnyWords(query, codes, n, words, out);
}

}  // namespace

HammingFunction* const hamming::kAvx2 = Distances;
#else
HammingFunction* const hamming::kAvx2 = nullptr;
#endif

}  // namespace crossilo

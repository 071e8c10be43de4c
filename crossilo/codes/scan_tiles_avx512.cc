// A tile is a vector a word, so eight rows cost no more than their words' loads,
// XORs, popcounts and additions, whatever the length of a code.
#include "crossilo/codes/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

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

// kQueries of them, each with `words` words; kWords is 0 where only `words` knows.
template <size_t kWords, size_t kQueries>
struct Codes {
  static constexpr size_t kRoom = kWords != 0 ? kWords : 1;

  CROSSILO_AVX512 Codes(const ScanQuery* queries, size_t count) : words(count) {
    for (size_t q = 0; q < kQueries; ++q) {
      from[q] = queries[q].code;
      if constexpr (kWords != 0) {
        for (size_t w = 0; w < kWords; ++w) vectors[q][w] = Word(q, w);
      }
    }
  }

  CROSSILO_AVX512 __m512i Word(size_t q, size_t w) const {
    int64_t word;
    std::memcpy(&word, from[q] + 8 * w, 8);
    return _mm512_set1_epi64(word);
  }

  CROSSILO_AVX512 void Distances(const std::byte* tile, __m512i (&sums)[kQueries]) const {
    for (size_t w = 0; w < (kWords != 0 ? kWords : words); ++w) {
      const __m512i row = _mm512_loadu_si512(tile + 64 * w);
      for (size_t q = 0; q < kQueries; ++q) {
        const __m512i word = kWords != 0 ? vectors[q][w % kRoom] : Word(q, w);
        const __m512i count = _mm512_popcnt_epi64(_mm512_xor_si512(row, word));
        sums[q] = w == 0 ? count : _mm512_add_epi64(sums[q], count);
      }
    }
  }

  size_t words;
  const std::byte* from[kQueries];
  __m512i vectors[kQueries][kRoom];
};

// Appends the near ones of a tile's first `there` rows, numbered from `row`.
template <size_t kWords, size_t kQueries>
CROSSILO_AVX512 __attribute__((noinline)) void Emit(ScanQuery* queries,
                                                    const Codes<kWords, kQueries>& codes,
                                                    const std::byte* tile, size_t row,
                                                    size_t there) {
  __m512i distances[kQueries];
  codes.Distances(tile, distances);
  for (size_t q = 0; q < kQueries; ++q) {
    const __m512i limit = _mm512_set1_epi64(std::max(0, queries[q].limit));
    unsigned near = _mm512_cmplt_epu64_mask(distances[q], limit) & ((1u << there) - 1);
    alignas(64) uint64_t values[8];
    _mm512_store_si512(values, distances[q]);
    for (; near != 0; near &= near - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(near));
      queries[q].out[queries[q].found++] = {static_cast<uint32_t>(row + i),
                                            static_cast<uint16_t>(values[i])};
    }
  }
}

template <size_t kWords, size_t kQueries>
CROSSILO_AVX512 void ScanSome(ScanQuery* queries, const std::byte* tiles, size_t n, size_t words) {
  constexpr size_t kTiles = kWords == 2 ? 4 : 1;  // before a comparison
  const Codes<kWords, kQueries> codes(queries, words);
  __m512i limits[kQueries];
  for (size_t q = 0; q < kQueries; ++q) {
    limits[q] = _mm512_set1_epi64(std::max(0, queries[q].limit));
    queries[q].found = 0;
  }
  size_t row = 0;
  const auto tile = [&](size_t t) { return tiles + (row + 8 * t) * 8 * words; };
  for (; row + 8 * kTiles <= n; row += 8 * kTiles) {
    __m512i least[kQueries];
    codes.Distances(tile(0), least);
    for (size_t t = 1; t < kTiles; ++t) {
      __m512i distances[kQueries];
      codes.Distances(tile(t), distances);
      for (size_t q = 0; q < kQueries; ++q) least[q] = _mm512_min_epu32(least[q], distances[q]);
    }
    unsigned any = 0;
    for (size_t q = 0; q < kQueries; ++q) any |= _mm512_cmplt_epu64_mask(least[q], limits[q]);
    if (any == 0) [[likely]]
      continue;
    for (size_t t = 0; t < kTiles; ++t) Emit(queries, codes, tile(t), row + 8 * t, 8);
  }
  for (; row < n; row += 8) Emit(queries, codes, tile(0), row, std::min<size_t>(8, n - row));
}

template <size_t kWords>
void ScanWords(std::span<ScanQuery> queries, const std::byte* tiles, size_t n, size_t words) {
  size_t q = 0;
  for (; q + 4 <= queries.size(); q += 4) ScanSome<kWords, 4>(&queries[q], tiles, n, words);
  for (; q < queries.size(); ++q) ScanSome<kWords, 1>(&queries[q], tiles, n, words);
}

void ScanAll(std::span<ScanQuery> queries, const std::byte* tiles, size_t n, size_t row_bytes) {
  if (row_bytes == 16) return ScanWords<2>(queries, tiles, n, 2);
  if (row_bytes == 32) return ScanWords<4>(queries, tiles, n, 4);
  ScanWords<0>(queries, tiles, n, row_bytes / 8);
}

}  // namespace

ScanFunction* const scan::kAvx512Tiles = ScanAll;
#else
ScanFunction* const scan::kAvx512Tiles = nullptr;
#endif

}  // namespace crossilo

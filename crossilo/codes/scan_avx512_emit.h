// What the AVX-512 scan does with the few rows that are near.  Only for
// scan_avx512.cc, which includes it where there is AVX-512.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "crossilo/codes/scan.h"

#if defined(__GNUC__) && !defined(__clang__)
// GCC's own headers leave registers undefined on purpose (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define CROSSILO_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vpopcntdq,avx512bitalg,avx512vnni")))

namespace crossilo::scan {

constexpr size_t kVectors = 8, kVectorBytes = 64;

CROSSILO_AVX512 inline __m512i Xor(const std::byte* rows, __m512i query) {
  return _mm512_xor_si512(_mm512_loadu_si512(rows), query);
}

CROSSILO_AVX512 inline __m512i Words(const std::byte* rows, __m512i query) {
  return _mm512_popcnt_epi64(Xor(rows, query));
}

// One distance a lane, rows of up to 8 bytes.
template <size_t kBytes>
CROSSILO_AVX512 inline __m512i Distances(const std::byte* rows, __m512i query) {
  if constexpr (kBytes == 2) return _mm512_popcnt_epi16(Xor(rows, query));
  if constexpr (kBytes == 4) return _mm512_popcnt_epi32(Xor(rows, query));
  return Words(rows, query);
}

template <size_t kBytes>
CROSSILO_AVX512 inline __m512i Broadcast(int limit) {
  if constexpr (kBytes == 2) return _mm512_set1_epi16(static_cast<int16_t>(limit));
  if constexpr (kBytes == 8) return _mm512_set1_epi64(limit);
  return _mm512_set1_epi32(limit);
}

template <size_t kBytes>
CROSSILO_AVX512 inline uint64_t Below(__m512i distances, __m512i limit) {
  if constexpr (kBytes == 2) return _mm512_cmplt_epu16_mask(distances, limit);
  if constexpr (kBytes == 8) return _mm512_cmplt_epu64_mask(distances, limit);
  return _mm512_cmplt_epu32_mask(distances, limit);
}

// {a0+a1, a2+a3, a4+a5, a6+a7, b0+b1, ...}
CROSSILO_AVX512 inline __m512i AddPairs(__m512i a, __m512i b) {
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return _mm512_add_epi64(_mm512_permutex2var_epi64(a, even, b),
                          _mm512_permutex2var_epi64(a, odd, b));
}

// The distances of eight rows in order, in 64 bits each.
template <size_t kBytes>
CROSSILO_AVX512 inline __m512i Eight(const std::byte* rows, __m512i query) {
  if constexpr (kBytes == 2) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows));
    const __m128i differing = _mm_xor_si128(eight, _mm512_castsi512_si128(query));
    return _mm512_popcnt_epi64(_mm512_cvtepu16_epi64(differing));
  } else if constexpr (kBytes == 4) {
    const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows));
    const __m256i differing = _mm256_xor_si256(eight, _mm512_castsi512_si256(query));
    return _mm512_popcnt_epi64(_mm512_cvtepu32_epi64(differing));
  } else if constexpr (kBytes == 8) {
    return Words(rows, query);
  } else if constexpr (kBytes == 16) {
    return AddPairs(Words(rows, query), Words(rows + 64, query));
  } else {
    return AddPairs(AddPairs(Words(rows, query), Words(rows + 64, query)),
                    AddPairs(Words(rows + 128, query), Words(rows + 192, query)));
  }
}

// Appends those of eight rows that are near, and returns where the next goes.
// Writes eight hits whatever they are: there is room, since no more were found
// than rows lie before these.
template <size_t kBytes>
CROSSILO_AVX512 inline ScanHit* EmitEight(__m512i code, int limit, const std::byte* rows,
                                          size_t row, ScanHit* out) {
  const __m512i distances = Eight<kBytes>(rows, code);
  const auto near = static_cast<__mmask8>(Below<8>(distances, Broadcast<8>(limit)));
  // A ScanHit is the row in the lower and the distance in the upper half.
  const __m512i numbers = _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(row)),
                                           _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
  const __m512i hits = _mm512_or_si512(numbers, _mm512_slli_epi64(distances, 32));
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(near, hits));
  return out + __builtin_popcount(near);
}

// The same for rows of eight vectors, at least one of which is near.  Apart, and
// by value: what the loop around it needs stays in registers.
template <size_t kBytes>
CROSSILO_AVX512 __attribute__((noinline)) ScanHit* Emit(__m512i code, int limit,
                                                        const std::byte* rows, size_t row,
                                                        ScanHit* out) {
  constexpr size_t kRows = kVectors * kVectorBytes / kBytes;
  constexpr size_t kInVector = kBytes < 8 ? kVectorBytes / kBytes : kRows;
  for (size_t i = 0; i < kRows; i += kInVector) {
    const std::byte* from = rows + i * kBytes;
    if constexpr (kBytes < 8) {
      if (!Below<kBytes>(Distances<kBytes>(from, code), Broadcast<kBytes>(limit))) continue;
    }
    for (size_t j = 0; j < kInVector; j += 8) {
      out = EmitEight<kBytes>(code, limit, from + j * kBytes, row + i + j, out);
    }
  }
  return out;
}

// The same for the rows from `row` to before n, which fill no eight vectors.
template <size_t kBytes>
CROSSILO_AVX512 ScanHit* EmitLast(__m512i code, int limit, const std::byte* rows, size_t row,
                                  size_t n, ScanHit* out) {
  for (; row + 8 <= n; row += 8) {
    out = EmitEight<kBytes>(code, limit, rows + row * kBytes, row, out);
  }
  if (row == n) return out;
  alignas(64) std::byte padded[8 * kBytes] = {};
  std::memcpy(padded, rows + row * kBytes, (n - row) * kBytes);
  alignas(64) ScanHit hits[8];
  ScanHit* const end = EmitEight<kBytes>(code, limit, padded, row, hits);
  return std::copy_if(hits, end, out, [&](const ScanHit& hit) { return hit.row < n; });
}

}  // namespace crossilo::scan

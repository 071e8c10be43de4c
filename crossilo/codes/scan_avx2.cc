// Counts bits by looking up each half byte (W. Muła, N. Kurz, D. Lemire,
// "Faster Population Counts Using AVX2 Instructions", 2018), adds up no more
// than the row needs, and compares the least of several vectors with the limit.
#include "crossilo/codes/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define CROSSILO_AVX2 __attribute__((target("avx2,popcnt")))
#endif

namespace crossilo {

#if defined(__x86_64__)
namespace {

constexpr size_t kVectors = 4, kVectorBytes = 32;

// The bits that differ, byte by byte.
CROSSILO_AVX2 inline __m256i Bytes(const std::byte* rows, __m256i query) {
  const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i v =
      _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows)), query);
  const __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(v, nibble));
  const __m256i high =
      _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
  return _mm256_add_epi8(low, high);
}

CROSSILO_AVX2 inline __m256i Words(const std::byte* rows, __m256i query) {
  return _mm256_sad_epu8(Bytes(rows, query), _mm256_setzero_si256());
}

// {a0+a1, b0+b1, a2+a3, b2+b3}
CROSSILO_AVX2 inline __m256i AddPairs(__m256i a, __m256i b) {
  return _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

// The least of each lane's distances over four vectors; which row is in which
// lane does not matter.  Lanes are as wide as a row, at most 64 bits.
template <size_t kBytes>
CROSSILO_AVX2 inline __m256i Least(const std::byte* rows, __m256i query) {
  if constexpr (kBytes == 16 || kBytes == 32) {
    const __m256i ab = AddPairs(Words(rows, query), Words(rows + 32, query));
    const __m256i cd = AddPairs(Words(rows + 64, query), Words(rows + 96, query));
    if constexpr (kBytes == 16) return _mm256_min_epi32(ab, cd);
    return _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20),
                            _mm256_permute2x128_si256(ab, cd, 0x31));
  } else {
    __m256i least = _mm256_set1_epi16(0x7fff);
    for (size_t v = 0; v < kVectors; ++v, rows += kVectorBytes) {
      if constexpr (kBytes == 8) {
        least = _mm256_min_epi16(least, Words(rows, query));
      } else {
        const __m256i halves = _mm256_maddubs_epi16(Bytes(rows, query), _mm256_set1_epi8(1));
        least = _mm256_min_epi16(
            least, kBytes == 2 ? halves : _mm256_madd_epi16(halves, _mm256_set1_epi16(1)));
      }
    }
    return least;
  }
}

template <size_t kBytes>
CROSSILO_AVX2 inline __m256i Broadcast(int limit) {
  if constexpr (kBytes == 2) return _mm256_set1_epi16(static_cast<int16_t>(limit));
  if constexpr (kBytes == 4) return _mm256_set1_epi32(limit);
  return _mm256_set1_epi64x(limit);
}

template <size_t kBytes>
CROSSILO_AVX2 inline bool AnyBelow(__m256i least, __m256i limit) {
  const __m256i below = kBytes == 2   ? _mm256_cmpgt_epi16(limit, least)
                        : kBytes == 4 ? _mm256_cmpgt_epi32(limit, least)
                                      : _mm256_cmpgt_epi64(limit, least);
  return _mm256_testz_si256(below, below) == 0;
}

// Appends those rows from `row` to before `end` that are near.
CROSSILO_AVX2 __attribute__((noinline)) void Emit(ScanQuery& query, const std::byte* rows,
                                                  size_t row, size_t end, size_t bytes) {
  for (; row < end; ++row) {
    int distance = 0;
    for (size_t b = 0; b < bytes; b += 8) {
      uint64_t mine = 0, theirs = 0;
      std::memcpy(&mine, query.code + b, std::min<size_t>(8, bytes));
      std::memcpy(&theirs, rows + row * bytes + b, std::min<size_t>(8, bytes));
      distance += __builtin_popcountll(mine ^ theirs);
    }
    if (distance < query.limit) {
      query.out[query.found++] = {static_cast<uint32_t>(row), static_cast<uint16_t>(distance)};
    }
  }
}

template <size_t kBytes>
CROSSILO_AVX2 void ScanBytes(ScanQuery& query, const std::byte* rows, size_t n) {
  constexpr size_t kRows = kVectors * kVectorBytes / kBytes;
  std::byte repeated[kVectorBytes];
  for (size_t b = 0; b < kVectorBytes; b += kBytes) std::memcpy(repeated + b, query.code, kBytes);
  const __m256i code = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(repeated));
  const __m256i limit =
      Broadcast<kBytes>(std::clamp(query.limit, 0, static_cast<int>(8 * kBytes) + 1));
  size_t row = 0;
  for (; row + kRows <= n; row += kRows) {
    if (AnyBelow<kBytes>(Least<kBytes>(rows + row * kBytes, code), limit)) [[unlikely]] {
      Emit(query, rows, row, row + kRows, kBytes);
    }
  }
  Emit(query, rows, row, n, kBytes);
}

void ScanRows(std::span<ScanQuery> queries, const std::byte* rows, size_t n, size_t row_bytes) {
  for (ScanQuery& query : queries) {
    query.found = 0;
    if (row_bytes == 2) {
      ScanBytes<2>(query, rows, n);
    } else if (row_bytes == 4) {
      ScanBytes<4>(query, rows, n);
    } else if (row_bytes == 8) {
      ScanBytes<8>(query, rows, n);
    } else if (row_bytes == 16) {
      ScanBytes<16>(query, rows, n);
    } else if (row_bytes == 32) {
      ScanBytes<32>(query, rows, n);
    } else {
      Emit(query, rows, 0, n, row_bytes);
    }
  }
}

}  // namespace

ScanFunction* const scan::kAvx2 = ScanRows;
#else
ScanFunction* const scan::kAvx2 = nullptr;
#endif

}  // namespace crossilo

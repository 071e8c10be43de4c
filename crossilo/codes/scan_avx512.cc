// Eight vectors of rows at a time: load, XOR, popcount, and the least distance
// of all of them against the limit, in one branch that is hardly ever taken.
// Zen 4 takes 1.5 cycles a vector for that, as long as for the sum of the
// popcounts.  Four queries at once share the loads, so that the rows may come
// from the second-level cache.
#include "crossilo/codes/scan.h"

#if defined(__x86_64__)
#include "crossilo/codes/scan_avx512_emit.h"
#endif

namespace crossilo {

#if defined(__x86_64__)
namespace {

using namespace scan;

// The words' bits of four vectors as bytes: in each 128-bit quarter two words
// of the first vector, two of the second, ..., a zero behind each.
CROSSILO_AVX512 inline __m512i FourAsBytes(const std::byte* rows, __m512i query) {
  const __m512i ab = _mm512_packus_epi32(Words(rows, query), Words(rows + 64, query));
  const __m512i cd = _mm512_packus_epi32(Words(rows + 128, query), Words(rows + 192, query));
  return _mm512_packus_epi16(ab, cd);
}

CROSSILO_AVX512 inline __m512i AddFourBytes(__m512i bytes) {
  return _mm512_dpbusd_epi32(_mm512_setzero_si512(), bytes, _mm512_set1_epi8(1));
}

// The least of each lane's distances over eight vectors; which row is in which
// lane does not matter.  Lanes are as wide as a row, but at most 32 bits for
// rows above 8 bytes.
template <size_t kBytes>
CROSSILO_AVX512 inline __m512i Least(const std::byte* rows, __m512i query) {
  if constexpr (kBytes == 32) {
    // A row fills two quarters.
    const __m512i a = FourAsBytes(rows, query), b = FourAsBytes(rows + 256, query);
    const __m512i even = _mm512_shuffle_i64x2(a, b, 0x88), odd = _mm512_shuffle_i64x2(a, b, 0xdd);
    return AddFourBytes(_mm512_add_epi8(even, odd));
  } else if constexpr (kBytes == 16) {
    return _mm512_min_epu32(AddFourBytes(FourAsBytes(rows, query)),
                            AddFourBytes(FourAsBytes(rows + 256, query)));
  } else {
    __m512i least = Distances<kBytes>(rows, query);
    for (size_t v = 1; v < kVectors; ++v) {
      const __m512i next = Distances<kBytes>(rows + v * kVectorBytes, query);
      // No 64-bit count needs more than its lower half, and Intel's processors
      // are slower at the least of 64 bits.
      least = kBytes == 2 ? _mm512_min_epu16(least, next) : _mm512_min_epu32(least, next);
    }
    return least;
  }
}

template <size_t kBytes>
CROSSILO_AVX512 inline __m512i Repeat(const std::byte* code) {
  alignas(64) std::byte repeated[kVectorBytes];
  for (size_t b = 0; b < kVectorBytes; b += kBytes) std::memcpy(repeated + b, code, kBytes);
  return _mm512_load_si512(repeated);
}

// kQueries of them over the same rows.
template <size_t kBytes, size_t kQueries>
CROSSILO_AVX512 void ScanSome(ScanQuery* queries, const std::byte* rows, size_t n) {
  constexpr size_t kRows = kVectors * kVectorBytes / kBytes;
  __m512i codes[kQueries], limits[kQueries];
  int limit[kQueries];
  ScanHit* out[kQueries];
  for (size_t q = 0; q < kQueries; ++q) {
    codes[q] = Repeat<kBytes>(queries[q].code);
    limit[q] = std::clamp(queries[q].limit, 0, static_cast<int>(8 * kBytes) + 1);
    limits[q] = Broadcast<kBytes>(limit[q]);
    out[q] = queries[q].out;
  }
  size_t row = 0;
  for (; row + kRows <= n; row += kRows) {
    const std::byte* from = rows + row * kBytes;
    uint64_t near[kQueries], any = 0;
    for (size_t q = 0; q < kQueries; ++q) {
      near[q] = Below<kBytes>(Least<kBytes>(from, codes[q]), limits[q]);
      any |= near[q];
    }
    if (any == 0) [[likely]]
      continue;
    for (size_t q = 0; q < kQueries; ++q) {
      if (near[q] != 0) out[q] = Emit<kBytes>(codes[q], limit[q], from, row, out[q]);
    }
  }
  for (size_t q = 0; q < kQueries; ++q) {
    out[q] = EmitLast<kBytes>(codes[q], limit[q], rows, row, n, out[q]);
    queries[q].found = static_cast<size_t>(out[q] - queries[q].out);
  }
}

template <size_t kBytes>
void ScanBytes(std::span<ScanQuery> queries, const std::byte* rows, size_t n) {
  size_t q = 0;
  for (; q + 4 <= queries.size(); q += 4) ScanSome<kBytes, 4>(&queries[q], rows, n);
  for (; q < queries.size(); ++q) ScanSome<kBytes, 1>(&queries[q], rows, n);
}

CROSSILO_AVX512 void ScanAny(ScanQuery& query, const std::byte* rows, size_t n, size_t bytes) {
  query.found = 0;
  for (size_t i = 0; i < n; ++i, rows += bytes) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t b = 0; b < bytes; b += kVectorBytes) {
      const size_t words = std::min<size_t>(8, (bytes - b) / 8);
      const auto mask = static_cast<__mmask8>((1u << words) - 1);
      const __m512i differing = _mm512_xor_si512(_mm512_maskz_loadu_epi64(mask, rows + b),
                                                 _mm512_maskz_loadu_epi64(mask, query.code + b));
      sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(differing));
    }
    const auto distance = static_cast<int>(_mm512_reduce_add_epi64(sum));
    if (distance < query.limit) {
      query.out[query.found++] = {static_cast<uint32_t>(i), static_cast<uint16_t>(distance)};
    }
  }
}

void ScanRows(std::span<ScanQuery> queries, const std::byte* rows, size_t n, size_t row_bytes) {
  if (row_bytes == 2) return ScanBytes<2>(queries, rows, n);
  if (row_bytes == 4) return ScanBytes<4>(queries, rows, n);
  if (row_bytes == 8) return ScanBytes<8>(queries, rows, n);
  if (row_bytes == 16) return ScanBytes<16>(queries, rows, n);
  if (row_bytes == 32) return ScanBytes<32>(queries, rows, n);
  for (ScanQuery& query : queries) ScanAny(query, rows, n, row_bytes);
}

}  // namespace

ScanFunction* const scan::kAvx512 = ScanRows;
#else
ScanFunction* const scan::kAvx512 = nullptr;
#endif

}  // namespace crossilo

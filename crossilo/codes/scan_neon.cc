#include "crossilo/codes/scan.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cstring>
#endif

namespace crossilo {

#if defined(__aarch64__)
namespace {

constexpr size_t kVectors = 4, kVectorBytes = 16;

// The bits that differ, byte by byte.
inline uint8x16_t Bytes(const std::byte* rows, uint8x16_t query) {
  return vcntq_u8(veorq_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(rows)), query));
}

inline uint32x4_t Quarters(const std::byte* rows, uint8x16_t query) {
  return vpaddlq_u16(vpaddlq_u8(Bytes(rows, query)));
}

// The least distance over four vectors.
template <size_t kBytes>
inline uint32_t Least(const std::byte* rows, const uint8x16_t* query) {
  if constexpr (kBytes == 2) {
    uint16x8_t least = vpaddlq_u8(Bytes(rows, query[0]));
    for (size_t v = 1; v < kVectors; ++v) {
      least = vminq_u16(least, vpaddlq_u8(Bytes(rows + v * kVectorBytes, query[0])));
    }
    return vminvq_u16(least);
  } else {
    uint32x4_t quarters[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      quarters[v] = Quarters(rows + v * kVectorBytes, query[v % 2]);
    }
    if constexpr (kBytes == 4) {
      return vminvq_u32(
          vminq_u32(vminq_u32(quarters[0], quarters[1]), vminq_u32(quarters[2], quarters[3])));
    }
    const uint32x4_t ab = vpaddq_u32(quarters[0], quarters[1]);  // two words of each
    const uint32x4_t cd = vpaddq_u32(quarters[2], quarters[3]);
    if constexpr (kBytes == 8) return vminvq_u32(vminq_u32(ab, cd));
    const uint32x4_t abcd = vpaddq_u32(ab, cd);  // one number of each
    if constexpr (kBytes == 16) return vminvq_u32(abcd);
    const uint32x4_t rows_of_two = vpaddq_u32(abcd, abcd);
    return vminvq_u32(rows_of_two);
  }
}

// Appends those rows from `row` to before `end` that are near.
void Emit(ScanQuery& query, const std::byte* rows, size_t row, size_t end, size_t bytes) {
  for (; row < end; ++row) {
    int distance = 0;
    for (size_t b = 0; b < bytes; b += 8) {
      uint64_t mine = 0, theirs = 0;
      std::memcpy(&mine, query.code + b, std::min<size_t>(8, bytes));
      std::memcpy(&theirs, rows + row * bytes + b, std::min<size_t>(8, bytes));
      distance += std::popcount(mine ^ theirs);
    }
    if (distance < query.limit) {
      query.out[query.found++] = {static_cast<uint32_t>(row), static_cast<uint16_t>(distance)};
    }
  }
}

template <size_t kBytes>
void ScanBytes(ScanQuery& query, const std::byte* rows, size_t n) {
  constexpr size_t kRows = kVectors * kVectorBytes / kBytes;
  uint8_t repeated[2 * kVectorBytes];
  for (size_t b = 0; b < sizeof(repeated); b += kBytes) {
    std::memcpy(repeated + b, query.code, kBytes);
  }
  const uint8x16_t code[] = {vld1q_u8(repeated), vld1q_u8(repeated + kVectorBytes)};
  const auto limit = static_cast<uint32_t>(std::max(0, query.limit));
  size_t row = 0;
  for (; row + kRows <= n; row += kRows) {
    if (Least<kBytes>(rows + row * kBytes, code) < limit) [[unlikely]] {
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

ScanFunction* const scan::kNeon = ScanRows;
#else
ScanFunction* const scan::kNeon = nullptr;
#endif

}  // namespace crossilo

#include "bench/index_flat_bare.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "crossilo/base/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's bug 105593
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#define CROSSILO_AVX512 __attribute__((target("avx512f,avx512bw,avx512vpopcntdq,avx512bitalg")))
#endif

namespace crossilo {
namespace {

constexpr size_t kBlock = 64 << 10;

// The codes of up to four queries, each repeated over 64 bytes.
struct Repeated {
  Repeated(std::span<const std::byte> queries, size_t bytes) : count(queries.size() / bytes) {
    for (size_t q = 0; q < count; ++q) {
      for (size_t b = 0; b < 64; b += bytes) {
        std::memcpy(code[q] + b, queries.data() + q * bytes, bytes);
      }
    }
  }

  size_t count;
  alignas(64) std::byte code[4][64];
};

uint64_t SumScalar(const Repeated& queries, std::span<const std::byte> rows) {
  uint64_t sum = 0;
  for (size_t q = 0; q < queries.count; ++q) {
    for (size_t b = 0; b + 8 <= rows.size(); b += 8) {
      uint64_t mine, theirs;
      std::memcpy(&mine, queries.code[q] + b % 64, 8);
      std::memcpy(&theirs, rows.data() + b, 8);
      sum += static_cast<uint64_t>(std::popcount(mine ^ theirs));
    }
  }
  return sum;
}

#if defined(__x86_64__)
// Lanes of 64 bits count as fast as narrower ones and never overflow.
template <size_t kQueries>
CROSSILO_AVX512 uint64_t SumVectors(const Repeated& queries, std::span<const std::byte> rows) {
  __m512i code[kQueries], sum[kQueries][2];
  for (size_t q = 0; q < kQueries; ++q) {
    code[q] = _mm512_load_si512(queries.code[q]);
    sum[q][0] = sum[q][1] = _mm512_setzero_si512();
  }
  for (size_t b = 0; b + 512 <= rows.size(); b += 512) {
    for (size_t v = 0; v < 8; ++v) {
      const __m512i row = _mm512_loadu_si512(rows.data() + b + 64 * v);
      for (size_t q = 0; q < kQueries; ++q) {
        sum[q][v % 2] =
            _mm512_add_epi64(sum[q][v % 2], _mm512_popcnt_epi64(_mm512_xor_si512(row, code[q])));
      }
    }
  }
  uint64_t total = 0;
  for (size_t q = 0; q < kQueries; ++q) {
    total += static_cast<uint64_t>(_mm512_reduce_add_epi64(_mm512_add_epi64(sum[q][0], sum[q][1])));
  }
  return total;
}

bool HasAvx512() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vpopcntdq");
}
#else
bool HasAvx512() { return false; }
#endif

uint64_t Sum(const Repeated& queries, std::span<const std::byte> rows) {
#if defined(__x86_64__)
  static const bool vectors = HasAvx512();
  if (vectors && queries.count == 4) return SumVectors<4>(queries, rows);
  if (vectors && queries.count == 1) return SumVectors<1>(queries, rows);
#endif
  return SumScalar(queries, rows);
}

// Every query over a part of the codes, block by block.
uint64_t SumBlocks(std::span<const std::byte> queries, std::span<const std::byte> codes,
                   size_t bytes) {
  std::vector<Repeated> groups;
  for (size_t q = 0; q < queries.size(); q += 4 * bytes) {
    groups.emplace_back(queries.subspan(q, std::min(4 * bytes, queries.size() - q)), bytes);
  }
  uint64_t sum = 0;
  for (size_t start = 0; start < codes.size(); start += kBlock) {
    const auto block = codes.subspan(start, std::min(kBlock, codes.size() - start));
    for (const Repeated& group : groups) sum += Sum(group, block);
  }
  return sum;
}

}  // namespace

const char* BareKernel() { return HasAvx512() ? "avx512" : "scalar"; }

uint64_t BareBatch(std::span<const std::byte> queries, std::span<const std::byte> codes,
                   size_t bytes, int threads) {
  std::atomic<uint64_t> sum = 0;
  const size_t groups = queries.size() / (4 * bytes);
  ForEach(threads, threads, [&](int64_t t, int) {
    const size_t begin = groups * t / threads * 4 * bytes;
    const size_t end = groups * (t + 1) / threads * 4 * bytes;
    sum += SumBlocks(queries.subspan(begin, end - begin), codes, bytes);
  });
  return sum;
}

uint64_t BareSingle(std::span<const std::byte> query, std::span<const std::byte> codes,
                    size_t bytes, int threads) {
  std::atomic<uint64_t> sum = 0;
  ForEach(threads, threads, [&](int64_t t, int) {
    const size_t begin = codes.size() / 512 * t / threads * 512;
    const size_t end = codes.size() / 512 * (t + 1) / threads * 512;
    sum += SumBlocks(query, codes.subspan(begin, end - begin), bytes);
  });
  return sum;
}

}  // namespace crossilo

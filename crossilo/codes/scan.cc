#include "crossilo/codes/scan.h"

#include <cstring>

namespace crossilo {

std::vector<ScanKernel> AvailableScanKernels() {
  std::vector<ScanKernel> kernels = {{"scalar", scan::kScalar}};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
    kernels.push_back({"avx2", scan::kAvx2});
  }
  // All or nothing: since Ice Lake and Zen 4 they come together.
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq")) {
    kernels.push_back({"avx512", scan::kAvx512, scan::kAvx512Tiles});
  }
#elif defined(__aarch64__)
  kernels.push_back({"neon", scan::kNeon});  // part of the architecture
#endif
  return kernels;
}

namespace {

const ScanKernel& Fastest() {
  static const ScanKernel fastest = AvailableScanKernels().back();
  return fastest;
}

}  // namespace

void Scan(std::span<ScanQuery> queries, const std::byte* rows, size_t n, size_t row_bytes) {
  Fastest().scan(queries, rows, n, row_bytes);
}

size_t Scan(const std::byte* query, const std::byte* rows, size_t n, size_t row_bytes, int limit,
            ScanHit* out) {
  ScanQuery one{.code = query, .limit = limit, .out = out};
  Scan({&one, 1}, rows, n, row_bytes);
  return one.found;
}

ScanFunction* TileScan() { return Fastest().scan_tiles; }

void MakeTiles(const std::byte* rows, size_t n, size_t row_bytes, std::byte* tiles) {
  for (size_t tile = 0; tile < n; tile += 8) {
    const size_t there = n - tile < 8 ? n - tile : 8;
    if (there < 8) std::memset(tiles, 0, 8 * row_bytes);
    for (size_t w = 0; w < row_bytes; w += 8) {
      for (size_t i = 0; i < there; ++i) {
        std::memcpy(tiles + 8 * (w + i), rows + (tile + i) * row_bytes + w, 8);
      }
    }
    tiles += 8 * row_bytes;
  }
}

}  // namespace crossilo

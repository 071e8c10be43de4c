#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

struct ScanHit {
  uint32_t row = 0;
  uint16_t distance = 0;

  bool operator==(const ScanHit&) const = default;
};

// One of the queries that go over the same rows.
struct ScanQuery {
  const std::byte* code = nullptr;  // row_bytes
  int limit = 0;
  ScanHit* out = nullptr;  // room for n
  size_t found = 0;        // written by the scan
};

// Writes, for each query, the rows of `rows` (n x row_bytes, see RowBytes; at
// any address; n below 2^32) that differ from its code in fewer than `limit`
// bits to `out`, in order, and to `found` how many they are.  What lies in
// `out` behind them, up to n, is overwritten.  Most rows of a long scan are
// far: they cost a load, an XOR, a popcount and a comparison, and touch no
// memory; queries that are scanned together share the loads.
using ScanFunction = void(std::span<ScanQuery> queries, const std::byte* rows, size_t n,
                          size_t row_bytes);

// By the fastest kernel this processor has.  Safe to call from many threads.
void Scan(std::span<ScanQuery> queries, const std::byte* rows, size_t n, size_t row_bytes);

// One query; returns how many rows it found.
size_t Scan(const std::byte* query, const std::byte* rows, size_t n, size_t row_bytes, int limit,
            ScanHit* out);

// The same rows, of 16 bytes and more, in tiles: word 0 of eight rows, then word
// 1 of these, and so on; rows missing in the last tile are zero.  Once made, they
// are scanned faster, for a row's words need not be added up across a register:
// worth it from about 16 queries on.  `tiles` has room for n rounded up to a
// multiple of 8.
void MakeTiles(const std::byte* rows, size_t n, size_t row_bytes, std::byte* tiles);

// As Scan; null where the fastest kernel gains nothing by them.
ScanFunction* TileScan();

struct ScanKernel {
  const char* name;  // "scalar", "avx2", "avx512", "neon"
  ScanFunction* scan;
  ScanFunction* scan_tiles = nullptr;
};

// The kernels that run on this processor, scalar first, fastest last.
std::vector<ScanKernel> AvailableScanKernels();

// One a file; null where it was not compiled for this architecture.  Only
// AvailableScanKernels() knows whether the processor at hand can run it.
namespace scan {
extern ScanFunction* const kScalar;
extern ScanFunction* const kAvx2;
extern ScanFunction* const kAvx512;
extern ScanFunction* const kAvx512Tiles;
extern ScanFunction* const kNeon;
}  // namespace scan

}  // namespace crossilo

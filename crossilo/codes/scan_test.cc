#include "crossilo/codes/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;

using Bytes = std::vector<std::byte>;

std::vector<ScanHit> ScanWith(const ScanKernel& kernel, const Bytes& query, const std::byte* rows,
                              size_t n, int limit) {
  std::vector<ScanHit> out(n);
  ScanQuery one{.code = query.data(), .limit = limit, .out = out.data(), .found = 77};
  kernel.scan({&one, 1}, rows, n, query.size());
  out.resize(one.found);
  return out;
}

TEST(Scan, RowsNearerThanTheLimitInOrder) {
  const Bytes query = {std::byte{0b1011}, std::byte{0}};
  // Differ in 0, 1, 4, 2 + 8 and 0 bits.
  const Bytes rows = {std::byte{0b1011}, std::byte{0}, std::byte{0b1010}, std::byte{0},
                      std::byte{0b0100}, std::byte{0}, std::byte{0b1000}, std::byte{0xff},
                      std::byte{0b1011}, std::byte{0}};
  for (const ScanKernel& kernel : AvailableScanKernels()) {
    SCOPED_TRACE(kernel.name);
    const auto scan = [&](int limit) { return ScanWith(kernel, query, rows.data(), 5, limit); };
    EXPECT_THAT(scan(4), ElementsAre(ScanHit{0, 0}, ScanHit{1, 1}, ScanHit{4, 0}));
    EXPECT_THAT(scan(5), ElementsAre(ScanHit{0, 0}, ScanHit{1, 1}, ScanHit{2, 4}, ScanHit{4, 0}));
    EXPECT_THAT(scan(10), testing::SizeIs(4));
    EXPECT_THAT(scan(11), testing::Contains(ScanHit{3, 10}));
    EXPECT_THAT(scan(1), ElementsAre(ScanHit{0, 0}, ScanHit{4, 0}));
    EXPECT_THAT(scan(0), testing::IsEmpty());
    EXPECT_THAT(scan(-3), testing::IsEmpty());
    EXPECT_THAT(scan(1 << 20), testing::SizeIs(5));
  }
}

TEST(Scan, EveryBitCounts) {
  for (size_t bytes : {2, 4, 8, 16, 24, 32, 64}) {
    const size_t n = 8 * bytes;  // row i has only bit i
    Bytes query(bytes), rows(n * bytes);
    for (size_t i = 0; i < n; ++i) rows[i * bytes + i / 8] = std::byte{1} << (i % 8);
    for (const ScanKernel& kernel : AvailableScanKernels()) {
      SCOPED_TRACE(kernel.name);
      EXPECT_TRUE(ScanWith(kernel, query, rows.data(), n, 1).empty());
      const std::vector<ScanHit> all = ScanWith(kernel, query, rows.data(), n, 2);
      ASSERT_EQ(all.size(), n) << bytes;
      for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(all[i], (ScanHit{i, 1}));
    }
  }
}

std::vector<ScanHit> BitByBit(const Bytes& query, const std::byte* rows, size_t n, int limit) {
  std::vector<ScanHit> hits;
  for (uint32_t i = 0; i < n; ++i) {
    uint16_t distance = 0;
    for (size_t b = 0; b < 8 * query.size(); ++b) {
      const std::byte differing = query[b / 8] ^ rows[i * query.size() + b / 8];
      distance += (differing >> (b % 8) & std::byte{1}) != std::byte{0};
    }
    if (distance < limit) hits.push_back({i, distance});
  }
  return hits;
}

// Rows at an odd address, some of them near the queries.
struct Case {
  Case(Random& random, size_t bytes, size_t n, size_t q)
      : queries(q, Bytes(bytes)), memory(1 + n * bytes), rows(memory.data() + 1) {
    for (Bytes& query : queries) {
      for (std::byte& b : query) b = static_cast<std::byte>(random.Bits());
    }
    for (size_t i = 0; i < n; ++i) {
      const Bytes& like = queries[random.Below(q)];
      const bool near = random.Below(10) == 0;
      for (size_t b = 0; b < bytes; ++b) {
        rows[i * bytes + b] = near ? like[b] : static_cast<std::byte>(random.Bits());
      }
      rows[i * bytes + random.Below(bytes)] ^= std::byte{1} << random.Below(8);
    }
  }

  std::vector<Bytes> queries;
  Bytes memory;
  std::byte* rows;
};

void ExpectRight(const Case& c, size_t n, const std::vector<int>& limits, ScanFunction* scan,
                 const std::byte* rows) {
  // A guard at the end: no kernel may write past n.
  const ScanHit guard{4711, 4711};
  std::vector<std::vector<ScanHit>> out(c.queries.size(), std::vector<ScanHit>(n + 1, guard));
  std::vector<ScanQuery> queries;
  for (size_t q = 0; q < c.queries.size(); ++q) {
    queries.push_back({c.queries[q].data(), limits[q % limits.size()], out[q].data(), 99});
  }
  scan(queries, rows, n, c.queries[0].size());
  for (size_t q = 0; q < queries.size(); ++q) {
    EXPECT_EQ(out[q].back(), guard);
    out[q].resize(queries[q].found);
    EXPECT_EQ(out[q], BitByBit(c.queries[q], c.rows, n, queries[q].limit)) << "query " << q;
  }
}

void ExpectAllKernelsRight(const Case& c, size_t n, const std::vector<int>& limits) {
  const size_t bytes = c.queries[0].size();
  for (const ScanKernel& kernel : AvailableScanKernels()) {
    SCOPED_TRACE(testing::Message() << kernel.name << ", " << n << " rows of " << bytes);
    ExpectRight(c, n, limits, kernel.scan, c.rows);
    if (kernel.scan_tiles == nullptr || bytes < 16) continue;
    SCOPED_TRACE("tiles");
    Bytes tiles((n + 7) / 8 * 8 * bytes, std::byte{0x55});
    MakeTiles(c.rows, n, bytes, tiles.data());
    ExpectRight(c, n, limits, kernel.scan_tiles, tiles.data());
  }
}

TEST(Scan, EveryKernelAgreesWithBitByBit) {
  Random random(1);
  for (size_t bytes : {2, 4, 8, 16, 24, 32, 40, 64, 72, 128}) {
    const int bits = static_cast<int>(8 * bytes);
    for (size_t n : {0, 1, 7, 8, 63, 64, 65, 1000, 4097}) {
      const size_t queries = 1 + random.Below(6);
      const Case c(random, bytes, n, queries);
      ExpectAllKernelsRight(c, n, {2, 0, bits / 2, 1, bits + 1});
      if (n < 4097) {
        for (int limit : {0, 1, 2, bits / 3, bits / 2, bits, bits + 1}) {
          ExpectAllKernelsRight(c, n, {limit});
        }
      }
    }
  }
}

TEST(Scan, TilesHoldWordByWord) {
  Bytes rows(9 * 16);  // row i has words 2 i and 2 i + 1
  for (size_t w = 0; w < 18; ++w) rows[8 * w] = static_cast<std::byte>(w);
  std::vector<uint64_t> tiles(2 * 16, 99);
  MakeTiles(rows.data(), 9, 16, reinterpret_cast<std::byte*>(tiles.data()));
  EXPECT_THAT(tiles, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15,  //
                                 16, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0));
}

TEST(Scan, FastestIsUsedAndAgrees) {
  Random random(2);
  const Case c(random, 8, 1000, 1);
  std::vector<ScanHit> out(1000);
  out.resize(Scan(c.queries[0].data(), c.rows, 1000, 8, 20, out.data()));
  EXPECT_FALSE(out.empty());
  EXPECT_EQ(out, BitByBit(c.queries[0], c.rows, 1000, 20));
}

TEST(Scan, ScalarIsAlwaysThereAndFirst) {
  EXPECT_EQ(AvailableScanKernels().front().name, std::string("scalar"));
}

}  // namespace
}  // namespace crossilo

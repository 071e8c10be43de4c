#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/index/index.h"
#include "crossilo/index/nearest.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Bytes = std::vector<std::byte>;
using Hits = std::vector<SlotHit>;

// Codes of 8 bits that differ from 0 in 3, 1, 0, 1 and 4 bits.
struct Five {
  Bytes rows = ToRows(
      PackedCodes::FromBytes(std::vector<uint8_t>{0b0111, 0b0001, 0b0000, 0b0010, 0b1111}, 5, 8));
  std::unique_ptr<Index> index = MakeFlatIndex({.rows = rows.data(), .size = 5, .bits = 8});

  Hits Search(const Policy& policy) const { return index->Search(Bytes(2), policy)[0]; }
};

TEST(FlatIndex, NearestFirstThenBySlot) {
  const Five five;
  EXPECT_THAT(five.Search({.k = 4}),
              ElementsAre(SlotHit{2, 0}, SlotHit{1, 1}, SlotHit{3, 1}, SlotHit{0, 3}));
  EXPECT_THAT(five.Search({.k = 2}), ElementsAre(SlotHit{2, 0}, SlotHit{1, 1}));
  EXPECT_THAT(five.Search({.k = 99}), SizeIs(5));
  EXPECT_THAT(five.Search({.k = Policy::kAll}), SizeIs(5));
  EXPECT_THAT(five.Search({.k = 0}), IsEmpty());
  EXPECT_EQ(five.index->kind(), "flat");
  EXPECT_THAT(five.index->Search({}, {}), IsEmpty());
}

TEST(FlatIndex, NoneFartherThanTheRadius) {
  const Five five;
  const auto radius = [&](float r) { return five.Search({.k = Policy::kAll, .radius = r}); };
  EXPECT_THAT(radius(0), ElementsAre(SlotHit{2, 0}));
  EXPECT_THAT(radius(1), ElementsAre(SlotHit{2, 0}, SlotHit{1, 1}, SlotHit{3, 1}));
  EXPECT_THAT(radius(2.9f), SizeIs(3));  // distance 3 is farther
  EXPECT_THAT(radius(3), SizeIs(4));
  EXPECT_THAT(radius(1e30f), SizeIs(5));
  EXPECT_THAT(radius(-0.5f), IsEmpty());
  EXPECT_THROW(radius(NAN), Error);
  EXPECT_THAT(five.Search({.k = 2, .radius = 3}), ElementsAre(SlotHit{2, 0}, SlotHit{1, 1}));
  EXPECT_THAT(five.Search({.k = 2, .radius = 0}), ElementsAre(SlotHit{2, 0}));
}

TEST(FlatIndex, OnlyWhatTheFilterAllows) {
  const Five five;
  Bitmap only(5);
  EXPECT_THAT(five.Search({.k = 3, .only = &only}), IsEmpty());
  only.Set(4);
  only.Set(1);
  EXPECT_THAT(five.Search({.k = 3, .only = &only}), ElementsAre(SlotHit{1, 1}, SlotHit{4, 4}));
  EXPECT_THAT(five.Search({.k = 1, .only = &only}), ElementsAre(SlotHit{1, 1}));
  EXPECT_THAT(five.Search({.k = 9, .radius = 3, .only = &only}), ElementsAre(SlotHit{1, 1}));
}

TEST(FlatIndex, RefusesWhatDoesNotFit) {
  const Five five;
  const Bitmap other(4);
  EXPECT_THROW(five.index->Search(Bytes(3), {}), Error);
  EXPECT_THROW(five.index->Search(Bytes(2), {.k = -1}), Error);
  EXPECT_THROW(five.index->Search(Bytes(2), {.only = &other}), Error);
  // Rows of 2 bytes for codes of 8 bits: bit 8 is none of them.
  EXPECT_THROW(five.index->Search(Bytes{std::byte{0}, std::byte{1}}, {}), Error);
  EXPECT_NO_THROW(five.index->Search(Bytes{std::byte{255}, std::byte{0}}, {}));
  EXPECT_THROW(CheckSearch({.bits = 12}, Bytes{std::byte{0}, std::byte{16}}, {}), Error);
  EXPECT_EQ(CheckSearch({.bits = 12}, Bytes{std::byte{0}, std::byte{15}}, {}), 1);
  const auto empty = MakeFlatIndex({.bits = 128});
  EXPECT_THAT(empty->Search(Bytes(32), {}), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(Nearest, TheLimitIsTheDistanceOfTheKth) {
  Nearest nearest(2, 10);
  EXPECT_EQ(nearest.limit(), 10);
  nearest.Offer(0, 10);  // beyond the cap
  nearest.Offer(1, 7);
  EXPECT_EQ(nearest.limit(), 10);
  nearest.Offer(2, 9);
  EXPECT_EQ(nearest.limit(), 9);  // 7, 9
  nearest.Offer(3, 7);
  EXPECT_EQ(nearest.limit(), 7);  // 7, 7
  nearest.Offer(4, 7);            // too late
  nearest.Offer(5, 3);
  EXPECT_EQ(nearest.limit(), 7);  // 3, 7
  nearest.Offer(6, 0);
  EXPECT_EQ(nearest.limit(), 3);  // 0, 3
  EXPECT_THAT(nearest.Sorted(), ElementsAre(SlotHit{6, 0}, SlotHit{5, 3}));
  EXPECT_EQ(Nearest(0, 10).limit(), 0);
}

TEST(Nearest, DropsWhatIsNoLongerNeeded) {
  Nearest nearest(1, 100000);
  for (uint32_t i = 0; i < 50000; ++i) nearest.Offer(i, static_cast<int>(50000 - i));
  EXPECT_THAT(nearest.Sorted(), ElementsAre(SlotHit{49999, 1}));
}

int Distance(const std::byte* a, const std::byte* b, int64_t bytes) {
  int distance = 0;
  for (int64_t i = 0; i < bytes; ++i) {
    distance += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
  }
  return distance;
}

// What Search promises, by sorting everything.
Hits SortEverything(const Table& table, const std::byte* query, const Policy& policy) {
  Hits all;
  for (uint32_t slot = 0; slot < table.size; ++slot) {
    if (policy.only != nullptr && !policy.only->Has(slot)) continue;
    const int64_t bytes = table.row_bytes();
    const int distance = Distance(query, table.rows + slot * bytes, bytes);
    if (static_cast<float>(distance) <= policy.radius) {
      all.push_back({slot, static_cast<float>(distance)});
    }
  }
  std::sort(all.begin(), all.end(), Nearer);
  all.resize(std::min<int64_t>(static_cast<int64_t>(all.size()), policy.k));
  return all;
}

// At an odd address; values per byte are few, so that ties are many.
struct RandomCodes {
  RandomCodes(Random& random, int64_t size, int bits) : memory(1 + size * RowBytes(bits)) {
    table = {.rows = memory.data() + 1, .size = size, .bits = bits};
    Fill(random, memory.data() + 1, size, bits);
  }

  static void Fill(Random& random, std::byte* rows, int64_t size, int bits) {
    for (int64_t i = 0; i < size; ++i) {
      for (int b = 0; b < bits / 8; ++b) {
        rows[i * RowBytes(bits) + b] = static_cast<std::byte>(random.Bits() & 0x33);
      }
    }
  }

  Bytes memory;
  Table table;
};

Bitmap RandomFilter(Random& random, int64_t size, int kind) {
  if (kind == 0) return Bitmap(size, true);
  Bitmap only(size);
  const auto begin = static_cast<int64_t>(random.Below(size));
  const auto end = begin + static_cast<int64_t>(random.Below(size - begin + 1));
  for (int64_t i = 0; i < size; ++i) {
    const bool set = kind == 1               ? random.Below(2) == 0     // half
                     : kind == 2             ? random.Below(10) == 0    // few
                     : kind == 3             ? random.Below(1000) == 0  // hardly any
                     : kind == 4             ? begin <= i && i < end    // a run
                     : begin <= i && i < end ? random.Below(3) != 0
                                             : random.Below(50) == 0;
    if (set) only.Set(i);
  }
  return only;
}

void ExpectRight(const Table& table, const Bytes& queries, Policy policy) {
  const auto index = MakeFlatIndex(table);
  const int64_t bytes = table.row_bytes(), count = static_cast<int64_t>(queries.size()) / bytes;
  for (int threads : {1, 2, 3}) {
    policy.threads = threads;
    const std::vector<Hits> hits = index->Search(queries, policy);
    ASSERT_THAT(hits, SizeIs(count));
    for (int64_t q = 0; q < count; ++q) {
      EXPECT_EQ(hits[q], SortEverything(table, queries.data() + q * bytes, policy))
          << table.size << " codes of " << table.bits << " bits, query " << q << " of " << count
          << ", k " << policy.k << ", radius " << policy.radius << ", threads " << threads;
    }
  }
}

TEST(FlatIndex, AgreesWithSortingEverything) {
  Random random(1);
  for (int bits : {8, 16, 24, 32, 64, 128, 192, 256, 512}) {
    for (int64_t n : {1, 63, 300, 9000}) {  // the last is more than a block
      const RandomCodes codes(random, n, bits);
      for (int kind = 0; kind < 7; ++kind) {
        const int64_t count = kind == 6 ? 21 : 1 + random.Below(9);  // 21: in tiles
        Bytes queries(count * RowBytes(bits));
        RandomCodes::Fill(random, queries.data(), count, bits);
        const Bitmap only = RandomFilter(random, n, kind % 6);
        const int64_t ks[] = {0, 1, 10, 200, n - 1, n, n + 1, Policy::kAll};
        const float radii[] = {0, bits / 8.0f, bits / 5.0f + 0.5f, Policy::kAnyDistance,
                               Policy::kAnyDistance};
        ExpectRight(codes.table, queries,
                    {.k = ks[random.Below(8)],
                     .radius = radii[random.Below(5)],
                     .only = kind == 6 ? nullptr : &only});
      }
    }
  }
}

// Enough work for several threads (2 MB of comparisons each), by slots and by
// queries.
TEST(FlatIndex, ThreadsChangeNothing) {
  Random random(2);
  for (int bits : {16, 64, 256}) {
    const RandomCodes codes(random, (int64_t{7} << 20) / RowBytes(bits) / 8, bits);
    for (int64_t count : {9, 30}) {
      Bytes queries(count * RowBytes(bits));
      RandomCodes::Fill(random, queries.data(), count, bits);
      const auto index = MakeFlatIndex(codes.table);
      for (int64_t k : {1, 50, 5000}) {
        const auto one = index->Search(queries, {.k = k, .threads = 1});
        for (int threads : {2, 3, 5}) {
          EXPECT_EQ(index->Search(queries, {.k = k, .threads = threads}), one);
        }
        EXPECT_EQ(one[0], SortEverything(codes.table, queries.data(), {.k = k}));
      }
      const Bitmap only = RandomFilter(random, codes.table.size, 2);
      Policy policy{.k = 70, .radius = bits / 4.0f, .only = &only, .threads = 1};
      const auto one = index->Search(queries, policy);
      policy.threads = 3;
      EXPECT_EQ(index->Search(queries, policy), one);
      EXPECT_EQ(one[1], SortEverything(codes.table, queries.data() + RowBytes(bits), policy));
    }
  }
}

}  // namespace
}  // namespace crossilo

#include <gtest/gtest.h>

#include <array>

#include "crossilo/base/error.h"
#include "crossilo/index/code_sample.h"
#include "crossilo/index/mih_lookup.h"
#include "crossilo/index/mih_plan.h"
#include "crossilo/index/mih_tables.h"
#include "crossilo/index/mih_test_codes.h"

namespace crossilo {
namespace {

TEST(MihTest, SmallCaseByHand) {
  // Slots 0 and 3 are the same code; from the query 0b0000'0110:
  //   0b0000'0111 (slots 0, 3) differs in 1 bit, 0b0000'0000 (1) in 2,
  //   0b1111'0110 (2) in 4.
  PackedCodes codes(4, 16);
  for (int slot : {0, 3}) {
    for (int b : {0, 1, 2}) codes.SetBit(slot, b);
  }
  for (int b : {1, 2, 4, 5, 6, 7}) codes.SetBit(2, b);
  const TestCodes rows{.rows = ToRows(codes), .bits = 16};
  AlignedBytes tables(BuildMih(rows.table()));
  const auto index = MakeMihIndex(rows.table(), tables.bytes());
  EXPECT_EQ(index->kind(), "mih");
  const std::array query = {std::byte{0b110}, std::byte{0}};
  const auto search = [&](const Policy& policy) { return index->Search(query, policy)[0]; };
  using Hits = std::vector<SlotHit>;
  EXPECT_EQ(search({.k = 2}), (Hits{{0, 1}, {3, 1}}));
  EXPECT_EQ(search({.k = 1}), (Hits{{0, 1}}));
  EXPECT_EQ(search({.k = 9}), (Hits{{0, 1}, {3, 1}, {1, 2}, {2, 4}}));
  EXPECT_EQ(search({.k = Policy::kAll, .radius = 2}), (Hits{{0, 1}, {3, 1}, {1, 2}}));
  EXPECT_EQ(search({.k = Policy::kAll, .radius = 0.5}), Hits{});
  EXPECT_EQ(search({.k = 0}), Hits{});
  EXPECT_EQ(search({.k = 9, .radius = -1}), Hits{});
  Bitmap only(4);
  only.Set(2), only.Set(3);
  EXPECT_EQ(search({.k = 9, .only = &only}), (Hits{{3, 1}, {2, 4}}));
}

TEST(MihTest, NothingAndOne) {
  const TestCodes none{.rows = {}, .bits = 64};
  AlignedBytes no_tables(BuildMih(none.table()));
  const std::vector<std::byte> query(8);
  const auto nothing = MakeMihIndex(none.table(), no_tables.bytes());
  EXPECT_TRUE(nothing->Search(query, {})[0].empty());
  EXPECT_TRUE(nothing->Search({}, {}).empty());

  const TestCodes one = MakeCodes(1, 64, 0, 0, 1);
  AlignedBytes tables(BuildMih(one.table()));
  EXPECT_EQ(MakeMihIndex(one.table(), tables.bytes())->Search(one.rows, {})[0],
            (std::vector<SlotHit>{{0, 0}}));
}

struct Case {
  int64_t size;
  int bits, centres;
  double spread;
};

class MihAgainstSorting : public testing::TestWithParam<Case> {};

TEST_P(MihAgainstSorting, SameHits) {
  const auto [size, bits, centres, spread] = GetParam();
  const TestCodes codes = MakeCodes(size, bits, centres, spread, 7);
  const Table table = codes.table();
  AlignedBytes tables(BuildMih(table));
  const auto index = MakeMihIndex(table, tables.bytes());
  // Tables where lookups have a chance although the scan is short.
  AlignedBytes more(BuildMih(table, KeyDealer(table).Deal(std::min(3, bits / 8), 6), 2));
  const auto other = MakeMihIndex(table, more.bytes());
  // Ten of the codes, and ten that have nothing to do with them.
  TestCodes queries = MakeCodes(10, bits, 0, 0, 8);
  queries.rows.insert(queries.rows.begin(), codes.rows.begin(),
                      codes.rows.begin() + 10 * table.row_bytes());
  Bitmap half(size), few(size);
  Random random(3);
  for (int64_t i = 0; i < size; ++i) {
    if (random.Below(2) == 0) half.Set(i);
    if (random.Below(200) == 0) few.Set(i);
  }
  for (const Bitmap* only : std::initializer_list<const Bitmap*>{nullptr, &half, &few}) {
    std::vector<Policy> policies;
    for (int64_t k : {1, 10, 300}) policies.push_back({.k = k, .only = only});
    for (float radius : {0, 1, 2, 3, 5, 8, 13}) {
      policies.push_back({.k = Policy::kAll, .radius = radius, .only = only});
      policies.push_back({.k = 7, .radius = radius, .only = only, .threads = 3});
    }
    std::vector<std::vector<SlotHit>> sorted;
    for (int64_t q = 0; q < 20; ++q) {
      sorted.push_back(SortedHits(table, queries.rows.data() + q * table.row_bytes(), only));
    }
    for (const Policy& policy : policies) {
      const auto answers = index->Search(queries.rows, policy);
      ASSERT_EQ(answers.size(), 20u);
      ASSERT_EQ(other->Search(queries.rows, policy), answers);
      for (int64_t q = 0; q < 20; ++q) {
        ASSERT_EQ(answers[q], Cut(sorted[q], policy))
            << "query " << q << ", k " << policy.k << ", radius " << policy.radius;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MihAgainstSorting,
                         testing::Values(Case{500, 8, 4, 0.2}, Case{9000, 16, 0, 0},
                                         Case{9000, 24, 20, 0.1}, Case{9000, 32, 20, 0.2},
                                         Case{9000, 64, 0, 0}, Case{60000, 64, 30, 0.1},
                                         Case{9000, 72, 5, 0.1}, Case{9000, 128, 9, 0.05},
                                         Case{9000, 256, 9, 0.05}, Case{6000, 1024, 3, 0.01}),
                         [](const auto& info) {
                           return fmt::format("{}bits{}centres", info.param.bits,
                                              info.param.centres);
                         });

TEST(MihTest, LookupsAloneFindEverything) {
  // With a scan that would take forever lookups never give up, whatever the
  // number of keys; 3 x 5 leave bits of a code to no key.
  for (const auto& [bits, tables, length] :
       {std::tuple{16, 1, 12}, std::tuple{32, 4, 7}, std::tuple{64, 3, 5}, std::tuple{64, 5, 11},
        std::tuple{128, 8, 9}}) {
    const TestCodes codes = MakeCodes(3000, bits, 30, 0.2, 7);
    const Table table = codes.table();
    AlignedBytes bytes(BuildMih(table, KeyDealer(table).Deal(tables, length), 1));
    const MihTables found_in(table, bytes.bytes());
    const auto sorted = SortedHits(table, codes.rows.data(), nullptr);
    MihLookup lookup(found_in);
    FoundCodes::Scratch scratch;
    for (int radius : {0, 1, 2, 3, 4, 7, 10}) {
      const Policy policy{.k = Policy::kAll, .radius = static_cast<float>(radius)};
      FoundCodes found(found_in, policy);
      ASSERT_TRUE(lookup.Run(codes.rows.data(), {.radius = radius, .scan_ns = 1e18}, found));
      EXPECT_EQ(found.Hits(scratch), Cut(sorted, policy)) << bits << " bits, within " << radius;
    }
    for (int64_t k : {1, 10, 100}) {
      FoundCodes found(found_in, {.k = k});
      const MihLookup::Task task{.radius = bits, .growing = true, .scan_ns = 1e18};
      ASSERT_TRUE(lookup.Run(codes.rows.data(), task, found));
      EXPECT_EQ(found.Hits(scratch), Cut(sorted, {.k = k})) << bits << " bits, top " << k;
    }
  }
}

TEST(MihTest, SameBytesWhateverTheThreads) {
  for (int bits : {16, 64, 128}) {
    const TestCodes codes = MakeCodes(20000, bits, 30, 0.1, 7);
    EXPECT_TRUE(BuildMih(codes.table(), 1) == BuildMih(codes.table(), 3)) << bits;
    const MihKeys keys = KeyDealer(codes.table()).Deal(3, 4);
    EXPECT_TRUE(BuildMih(codes.table(), keys, 1) == BuildMih(codes.table(), keys, 3)) << bits;
  }
}

TEST(MihTest, PlansKeysWhereLookupsPay) {
  // 300,000 codes around 20,000 places; and coins, of which ten are near no one.
  const TestCodes crowded = MakeCodes(300000, 64, 20000, 0.05, 1);
  const MihPlan plan = PlanMih(crowded.table(), 300000, 3);
  ASSERT_GT(plan.keys.size(), 1u);
  for (const auto& key : plan.keys) EXPECT_GT(key.size(), 5u);
  const TestCodes coins = MakeCodes(30000, 256, 0, 0, 1);
  EXPECT_EQ(PlanMih(coins.table(), 30000, 64).keys, MihKeys{{}});
}

TEST(MihTest, KeysLeaveConstantBitsOutAndTwinsApart) {
  // Bits 8..15 repeat bits 0..7, and 16..23 are constant.
  PackedCodes codes(20000, 64);
  Random random(1);
  for (int64_t i = 0; i < codes.size(); ++i) {
    for (int b = 0; b < 64; ++b) {
      if (b >= 8 && b < 16 ? codes.Bit(i, b - 8) : b / 8 != 2 && random.Below(2) == 1) {
        codes.SetBit(i, b);
      }
    }
  }
  const TestCodes rows{.rows = ToRows(codes), .bits = 64};
  const KeyDealer dealer(rows.table());
  EXPECT_EQ(dealer.bits(), 56);
  // 56 = 14 + 14 + 14 + 14: all of them, the twins in different ones of four.
  const MihKeys keys = dealer.Deal(4, 14);
  ASSERT_EQ(keys.size(), 4u);
  for (const auto& key : keys) {
    EXPECT_EQ(key.size(), 14u);
    std::array<int, 8> twins = {};
    for (uint16_t b : key) {
      EXPECT_NE(b / 8, 2) << b;
      if (b < 16) ++twins[b % 8];
    }
    for (int count : twins) EXPECT_LE(count, 1);
  }
}

TEST(MihTest, SampleCountsDistinctCodes) {
  // Five centres without spread: nothing new after the first few.
  const CodeStatistics five = Look(MakeCodes(100000, 64, 5, 0, 1).table());
  EXPECT_EQ(five.distinct, 5);
  EXPECT_EQ(five.near, 0);
  // Coins: hardly any twice, and the nearest of 65,536 differs in more than 8.
  const CodeStatistics coins = Look(MakeCodes(100000, 64, 0, 0, 1).table());
  EXPECT_EQ(coins.distinct, 100000);
  EXPECT_GT(coins.near, 8);
}

TEST(MihTest, RefusesWhatDoesNotFit) {
  const TestCodes codes = MakeCodes(9000, 64, 5, 0.2, 1);
  const std::string built = BuildMih(codes.table());
  AlignedBytes whole(built);
  EXPECT_NO_THROW(MakeMihIndex(codes.table(), whole.bytes()));
  Table shorter = codes.table();
  --shorter.size;
  EXPECT_THROW(MakeMihIndex(shorter, whole.bytes()), Error);
  Table narrower = codes.table();
  narrower.bits = 56;
  EXPECT_THROW(MakeMihIndex(narrower, whole.bytes()), Error);
  EXPECT_THROW(MakeMihIndex(codes.table(), whole.bytes().first(built.size() - 64)), Error);
  EXPECT_THROW(MakeMihIndex(codes.table(), whole.bytes().first(100)), Error);
  EXPECT_THROW(MakeMihIndex(codes.table(), {}), Error);
  // Every byte of the header counts: another value is refused, but for the
  // bits that make up a key, where any not yet taken would do.
  for (size_t at = 0; at < sizeof(MihHeader); ++at) {
    const size_t part = at < 64 ? 0 : (at - 64) % 96;
    if (at >= 64 && at < 64 + 8 * 96 && part >= 32 && part < 80) continue;
    AlignedBytes damaged(built);
    damaged.bytes()[at] ^= std::byte{0x55};
    EXPECT_THROW(MakeMihIndex(codes.table(), damaged.bytes()), Error) << at;
  }
  Table real = {.rows = codes.rows.data(), .size = 10, .dims = 4};
  EXPECT_THROW(BuildMih(real), Error);
  EXPECT_THROW(MakeMihIndex(real, whole.bytes()), Error);
}

TEST(MihTest, DamagedContentIsReadInsideItsBounds) {
  for (int bits : {16, 64, 128}) {
    const TestCodes codes = MakeCodes(6000, bits, 30, 0.2, 1);
    const std::string built = BuildMih(codes.table(), KeyDealer(codes.table()).Deal(2, 7), 1);
    Random random(5);
    for (int round = 0; round < 40; ++round) {
      AlignedBytes damaged(built);
      const auto bytes = damaged.bytes();
      const int flips = round % 4 == 0 ? 1 : 1000;
      for (int i = 0; i < flips; ++i) {
        bytes[sizeof(MihHeader) + random.Below(bytes.size() - sizeof(MihHeader))] =
            static_cast<std::byte>(random.Below(256));
      }
      if (round == 1) std::fill(bytes.begin() + sizeof(MihHeader), bytes.end(), std::byte{0xff});
      if (round == 2) std::fill(bytes.begin() + sizeof(MihHeader), bytes.end(), std::byte{0});
      const auto index = MakeMihIndex(codes.table(), bytes);
      const auto queries = std::span(codes.rows).first(4 * codes.table().row_bytes());
      for (const Policy& policy :
           {Policy{.k = 5}, Policy{.k = Policy::kAll, .radius = 4}, Policy{.k = Policy::kAll}}) {
        for (const auto& hits : index->Search(queries, policy)) {
          EXPECT_LE(hits.size(), 6000u);
          for (const SlotHit& hit : hits) EXPECT_LT(hit.slot, 6000u);
        }
      }
      // Lookups that nothing stops.
      const MihTables tables(codes.table(), bytes);
      FoundCodes found(tables, {.k = Policy::kAll, .radius = 4});
      FoundCodes::Scratch scratch;
      MihLookup(tables).Run(codes.rows.data(), {.radius = 4, .scan_ns = 1e18}, found);
      EXPECT_LE(found.Hits(scratch).size(), 6000u);
    }
  }
}

// Without a begin each code seems to have all slots behind its own; to look at
// them all would take codes times slots.
TEST(MihTest, DamagedBeginsCostNoMoreThanAScan) {
  const TestCodes codes = MakeCodes(6000, 64, 30, 0.2, 1);
  AlignedBytes damaged(BuildMih(codes.table(), KeyDealer(codes.table()).Deal(2, 7), 1));
  const int64_t size = codes.table().size;
  const MihTables tables(codes.table(), damaged.bytes());
  std::fill_n(damaged.bytes().begin() + static_cast<int64_t>(tables.header.begins_at),
              (size + 63) / 64 * 8, std::byte{0});
  ASSERT_GT(tables.distinct, 3000);
  const Bitmap only(size, true);
  for (const Bitmap* filter : {static_cast<const Bitmap*>(nullptr), &only}) {
    for (int64_t k : {int64_t{2000}, Policy::kAll}) {
      FoundCodes found(tables, {.k = k, .only = filter});
      for (int64_t i = 0; i < tables.distinct && found.limit() > 20; ++i) {
        found.Add(tables.parts[0].refs[i], 20);
      }
      FoundCodes::Scratch scratch;
      found.Hits(scratch);
      int64_t looked = 0;
      for (const auto& list : scratch.lists) looked += list.last - list.first;
      EXPECT_LE(looked, 3 * size) << k;
    }
  }
}

}  // namespace
}  // namespace crossilo

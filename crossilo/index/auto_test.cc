#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/index/mih_test_codes.h"

namespace crossilo {
namespace {

using testing::StartsWith;

// Codes with all three indexes over them.
class ThreeIndexes {
 public:
  explicit ThreeIndexes(TestCodes codes)
      : codes_(std::move(codes)), tables_(BuildMih(codes_.table())) {
    auto_ =
        MakeAutoIndex(MakeFlatIndex(codes_.table()), MakeMihIndex(codes_.table(), tables_.bytes()));
  }
  const TestCodes& codes() const { return codes_; }
  const Index& automatic() const { return *auto_; }

 private:
  TestCodes codes_;
  AlignedBytes tables_;
  std::unique_ptr<Index> auto_;
};

void ExpectSameAsSorting(const ThreeIndexes& indexes, const TestCodes& queries) {
  const Table table = indexes.codes().table();
  Bitmap half(table.size), few(table.size);
  for (int64_t i = 0; i < table.size; ++i) {
    if (i % 2 == 0) half.Set(i);
    if (i % 1999 == 0) few.Set(i);
  }
  for (const Bitmap* only : std::initializer_list<const Bitmap*>{nullptr, &half, &few}) {
    std::vector<std::vector<SlotHit>> sorted;
    for (int64_t q = 0; q < queries.table().size; ++q) {
      sorted.push_back(SortedHits(table, queries.rows.data() + q * table.row_bytes(), only));
    }
    for (const Policy& policy :
         {Policy{.k = 10, .only = only}, Policy{.k = 1, .radius = 3, .only = only},
          Policy{.k = Policy::kAll, .radius = 2, .only = only, .threads = 1},
          Policy{.k = Policy::kAll, .radius = 20, .only = only},
          Policy{.k = Policy::kAll, .only = only}, Policy{.k = 0, .only = only}}) {
      const auto answers = indexes.automatic().Search(queries.rows, policy);
      ASSERT_EQ(answers.size(), sorted.size());
      for (size_t q = 0; q < sorted.size(); ++q) {
        ASSERT_EQ(answers[q], Cut(sorted[q], policy)) << "query " << q << ", k " << policy.k;
      }
    }
  }
}

TEST(AutoTest, SameHitsWhoeverAnswers) {
  // Long enough for lookups, of 64 bits with few equal codes; of 32 bits with
  // many, where comparing the distinct ones is the way out; and short.
  for (const auto& [size, bits, centres, spread] :
       {std::tuple{150000, 64, 200, 0.15}, std::tuple{150000, 32, 20, 0.05},
        std::tuple{900, 64, 20, 0.1}}) {
    const ThreeIndexes indexes(MakeCodes(size, bits, centres, spread, 7));
    EXPECT_EQ(indexes.automatic().kind(), "auto");
    // One of the codes, which is near others, and one far from all: lookups
    // answer the first and give the second one up.
    TestCodes queries = MakeCodes(1, bits, 0, 0, 8);
    const int64_t row = queries.table().row_bytes();
    queries.rows.insert(queries.rows.begin(), indexes.codes().rows.begin(),
                        indexes.codes().rows.begin() + row);
    ExpectSameAsSorting(indexes, queries);
  }
}

TEST(AutoTest, WithoutTablesItScans) {
  const TestCodes codes = MakeCodes(100, 64, 3, 0.1, 1);
  const auto index = MakeAutoIndex(MakeFlatIndex(codes.table()), nullptr);
  EXPECT_EQ(index->kind(), "auto");
  EXPECT_EQ(index->Search(std::span(codes.rows).first(8), {.k = 5})[0],
            Cut(SortedHits(codes.table(), codes.rows.data(), nullptr), {.k = 5}));
}

TEST(AutoTest, RefusesWhatDoesNotFit) {
  const ThreeIndexes indexes(MakeCodes(150000, 64, 20, 0.1, 7));
  const auto& rows = indexes.codes().rows;
  const Bitmap other(5);
  EXPECT_THROW(indexes.automatic().Search(std::span(rows).first(7), {}), Error);
  EXPECT_THROW(indexes.automatic().Search(std::span(rows).first(8), {.k = -1}), Error);
  EXPECT_THROW(indexes.automatic().Search(std::span(rows).first(8), {.only = &other}), Error);
  EXPECT_TRUE(indexes.automatic().Search({}, {}).empty());
  const TestCodes codes = MakeCodes(10, 64, 1, 0.1, 1);
  EXPECT_THROW(MakeAutoIndex(MakeFlatIndex(codes.table()), MakeFlatIndex(codes.table())), Error);
}

TEST(ChooseIndexTest, TablesWhereTheyPay) {
  const auto choose = [](int64_t size, int bits, int centres, double spread) {
    const TestCodes codes = MakeCodes(size, bits, centres, spread, 1);
    return ChooseIndex(codes.table());
  };
  // Over in no time.
  IndexChoice choice = choose(1000, 64, 10, 0.1);
  EXPECT_FALSE(choice.mih);
  EXPECT_THAT(choice.reason, StartsWith("flat: a scan of 1000 codes takes"));
  // 65,536 distinct codes at most, however many there are.
  choice = choose(2000000, 16, 0, 0);
  EXPECT_TRUE(choice.mih);
  EXPECT_THAT(choice.reason, StartsWith("mih: about"));
  // Two thousand codes, each two hundred times.
  choice = choose(400000, 64, 2000, 0);
  EXPECT_TRUE(choice.mih) << choice.reason;
  // Coins of 256 bits: the nearest differ in 80, and no key is near by then.
  choice = choose(100000, 256, 0, 0);
  EXPECT_FALSE(choice.mih) << choice.reason;
  EXPECT_THAT(choice.reason, StartsWith("flat: about"));
  const std::vector<float> real(8);
  EXPECT_FALSE(
      ChooseIndex({.rows = reinterpret_cast<const std::byte*>(real.data()), .size = 2, .dims = 4})
          .mih);
}

}  // namespace
}  // namespace crossilo

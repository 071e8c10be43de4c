#include "crossilo/index/hits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossilo {
namespace {

using testing::ElementsAre;

TEST(MergeHits, ByDistanceThenSiloThenId) {
  const SiloHits b = {"b", {{5, 1}, {2, 3}}}, a = {"a", {{9, 1}, {1, 3}, {3, 3}}};
  const auto merged = MergeHits({b, a}, 4);
  EXPECT_THAT(merged, ElementsAre(SiloHit{1, "a", 9}, SiloHit{1, "b", 5}, SiloHit{3, "a", 1},
                                  SiloHit{3, "a", 3}));
  EXPECT_EQ(MergeHits({a, b}, 4), merged);  // whoever answered first
  EXPECT_EQ(MergeHits({a, b}, 99).size(), 5u);
  EXPECT_TRUE(MergeHits({}, 3).empty());
  EXPECT_TRUE(MergeHits({a}, 0).empty());
}

TEST(IdOf, NumbersAreThemselvesAndNamesHash) {
  EXPECT_EQ(IdOf("0"), 0);
  EXPECT_EQ(IdOf("42"), 42);
  EXPECT_EQ(IdOf("123456789012345678"), 123456789012345678);
  // SHA-256 of "" begins e3b0c44298fc1c14: 0xe3b0c44298fc1c14 mod 2^62 =
  // 0x23b0c44298fc1c14, and 2^62 more is 0x63b0....
  EXPECT_EQ(IdOf(""), 0x63b0c44298fc1c14);
  for (const char* name : {"042", "1234567890123456789", "-1", "google/1f600", "4 2"}) {
    EXPECT_GE(IdOf(name), int64_t{1} << 62) << name;
  }
  EXPECT_NE(IdOf("042"), IdOf("42"));
}

TEST(WrittenId, IsAnyIdAndNothingElse) {
  EXPECT_EQ(WrittenId("0"), 0);
  EXPECT_EQ(WrittenId("42"), 42);
  EXPECT_EQ(WrittenId("9223372036854775807"), 9223372036854775807);
  for (const char* name : {"", "042", "-1", "-0", "9223372036854775808", "4 2", "4x"}) {
    EXPECT_EQ(WrittenId(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace crossilo

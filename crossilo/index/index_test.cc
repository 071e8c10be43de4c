#include "crossilo/index/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FlatIndex, NearestFirstThenById) {
  const uint8_t bytes[] = {0b0111, 0b0001, 0b0000, 0b0010, 0b1111};
  const auto index = MakeFlatIndex(PackedCodes::FromBytes(bytes, 5, 8));
  const uint64_t query[] = {0};
  EXPECT_THAT(index->Search(query, 4), ElementsAre(Hit{2, 0}, Hit{1, 1}, Hit{3, 1}, Hit{0, 3}));
  EXPECT_THAT(index->Search(query, 2), ElementsAre(Hit{2, 0}, Hit{1, 1}));
  EXPECT_THAT(index->Search(query, 99), testing::SizeIs(5));
  EXPECT_THAT(index->Search(query, 0), IsEmpty());
  EXPECT_EQ(index->size(), 5);
  EXPECT_EQ(index->bits(), 8);
}

TEST(FlatIndex, RefusesAnotherLength) {
  const auto index = MakeFlatIndex(PackedCodes(3, 128));
  const std::vector<uint64_t> one(1), two(2);
  EXPECT_THROW(index->Search(one, 1), Error);
  EXPECT_THROW(index->Search(two, -1), Error);
  EXPECT_THAT(index->Search(two, 1), ElementsAre(Hit{0, 0}));
  EXPECT_THAT(MakeFlatIndex(PackedCodes(0, 128))->Search(two, 5), IsEmpty());
}

TEST(FlatIndex, AgreesWithSortingEverything) {
  Random random(1);
  for (int bits : {8, 16, 64, 128, 192, 256}) {
    for (int64_t n : {1, 100, 5000}) {  // the last is more than a block
      std::vector<float> relaxed(n * bits);
      for (float& v : relaxed) v = random.Below(2) ? 1.0f : -1.0f;
      const PackedCodes codes = Pack(relaxed.data(), n, bits);
      const auto index = MakeFlatIndex(codes);
      const auto query = codes.Code(static_cast<int64_t>(random.Below(n)));
      std::vector<Hit> all;
      for (int64_t i = 0; i < n; ++i) {
        int distance = 0;
        for (int w = 0; w < codes.words_per_code(); ++w) {
          distance += std::popcount(query[w] ^ codes.Code(i)[w]);
        }
        all.push_back({i, distance});
      }
      std::stable_sort(all.begin(), all.end(),
                       [](const Hit& a, const Hit& b) { return a.distance < b.distance; });
      for (int64_t k : {1, 10, 200, 5000}) {
        const std::vector<Hit> expected(all.begin(), all.begin() + std::min(k, n));
        EXPECT_EQ(index->Search(query, k), expected) << bits << " " << n << " " << k;
      }
    }
  }
}

TEST(TopCosine, LargestFirstThenById) {
  const std::vector<float> query = {1, 0}, database = {0, 1, 3, 4, -1, 0, 0, 0, 3, -4};
  const auto hits = TopCosine(query, database, 2, 4);
  ASSERT_EQ(hits.size(), 4u);
  EXPECT_EQ(hits[0].id, 1);  // 3/5
  EXPECT_EQ(hits[1].id, 4);  // 3/5 too
  EXPECT_FLOAT_EQ(hits[1].cosine, 0.6f);
  EXPECT_THAT(hits[2], (CosineHit{0, 0}));
  EXPECT_THAT(hits[3], (CosineHit{3, 0}));  // the zero row; (-1, 0) comes last
  EXPECT_THAT(TopCosine(query, {}, 2, 4), IsEmpty());
}

TEST(TopCosine, AgreesWithSortingEverythingInDouble) {
  Random random(2);
  constexpr int kDim = 20, kRows = 300;
  std::vector<float> query(kDim), database(kDim * kRows);
  for (float& v : query) v = static_cast<float>(random.Normal());
  for (float& v : database) v = static_cast<float>(random.Normal());
  std::vector<std::pair<double, int64_t>> expected;
  for (int i = 0; i < kRows; ++i) {
    double dot = 0, a = 0, b = 0;
    for (int d = 0; d < kDim; ++d) {
      const double q = query[d], x = database[i * kDim + d];
      dot += q * x;
      a += q * q;
      b += x * x;
    }
    expected.push_back({-dot / std::sqrt(a * b), i});
  }
  std::sort(expected.begin(), expected.end());
  const auto hits = TopCosine(query, database, kDim, 50);
  ASSERT_EQ(hits.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(hits[i].id, expected[i].second);
    EXPECT_NEAR(hits[i].cosine, -expected[i].first, 1e-6);
  }
}

TEST(TopCosine, RefusesWhatDoesNotFit) {
  const std::vector<float> two = {1, 0}, three = {1, 0, 0};
  EXPECT_THROW(TopCosine(three, two, 2, 1), Error);
  EXPECT_THROW(TopCosine(two, three, 2, 1), Error);
  EXPECT_THROW(TopCosine(two, two, 2, -1), Error);
  EXPECT_THROW(TopCosine(two, std::vector<float>{NAN, 1}, 2, 1), Error);
}

}  // namespace
}  // namespace crossilo

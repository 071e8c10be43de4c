#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/index/index.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
using Hits = std::vector<SlotHit>;

Table TableOf(const std::vector<float>& rows, int dims) {
  return {reinterpret_cast<const std::byte*>(rows.data()), static_cast<int64_t>(rows.size()) / dims,
          0, dims};
}

std::vector<Hits> Search(const std::vector<float>& rows, int dims,
                         const std::vector<float>& queries, const Policy& policy) {
  return MakeCosineIndex(TableOf(rows, dims))->Search(std::as_bytes(std::span(queries)), policy);
}

std::vector<uint32_t> Slots(const Hits& hits) {
  std::vector<uint32_t> slots;
  for (const SlotHit& hit : hits) slots.push_back(hit.slot);
  return slots;
}

std::vector<float> Normals(Random& random, size_t n) {
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(random.Normal());
  return values;
}

// Sums in long double, one after another, and a sort of everything.
Hits Judge(const std::vector<float>& rows, int dims, const float* query, const Policy& policy) {
  Hits hits;
  for (size_t slot = 0; slot < rows.size() / dims; ++slot) {
    if (policy.only != nullptr && !policy.only->Has(static_cast<int64_t>(slot))) continue;
    long double dot = 0, a = 0, b = 0;
    for (int d = 0; d < dims; ++d) {
      const long double q = query[d], x = rows[slot * dims + d];
      dot += q * x, a += q * q, b += x * x;
    }
    if (!std::isfinite(b)) continue;
    const long double cosine = a == 0 || b == 0 ? 0 : dot / std::sqrt(a) / std::sqrt(b);
    const float distance = 1 - static_cast<float>(cosine);
    if (distance <= policy.radius) hits.push_back({static_cast<uint32_t>(slot), distance});
  }
  std::sort(hits.begin(), hits.end(),
            [](const SlotHit& a, const SlotHit& b) { return Nearer(a, b); });
  if (static_cast<int64_t>(hits.size()) > policy.k) hits.resize(policy.k);
  return hits;
}

TEST(CosineIndex, NearestFirstThenBySlot) {
  const std::vector<float> query = {1, 0}, rows = {0, 1, 3, 4, -1, 0, 0, 0, 3, -4, 5, 0};
  const Hits hits = Search(rows, 2, query, {.k = 5})[0];
  EXPECT_THAT(Slots(hits), ElementsAre(5, 1, 4, 0, 3));  // (-1, 0) would come last
  EXPECT_EQ(hits[0].distance, 0);
  EXPECT_FLOAT_EQ(hits[1].distance, 0.4f);  // 1 - 3/5
  EXPECT_EQ(hits[1].distance, hits[2].distance);
  EXPECT_EQ(hits[3].distance, 1);
  EXPECT_EQ(hits[4].distance, 1);  // the zero row
  EXPECT_EQ(Search(rows, 2, query, {.k = 6})[0][5], (SlotHit{2, 2}));
  EXPECT_EQ(MakeCosineIndex(TableOf(rows, 2))->kind(), "cosine");
}

TEST(CosineIndex, RadiusAndFilter) {
  const std::vector<float> query = {1, 0}, rows = {0, 1, 3, 4, -1, 0, 0, 0, 3, -4, 5, 0};
  const auto slots = [&](const Policy& policy) { return Slots(Search(rows, 2, query, policy)[0]); };
  EXPECT_THAT(slots({.k = Policy::kAll, .radius = 0}), ElementsAre(5));
  EXPECT_THAT(slots({.k = Policy::kAll, .radius = 0.5f}), ElementsAre(5, 1, 4));
  EXPECT_THAT(slots({.k = Policy::kAll, .radius = 1}), ElementsAre(5, 1, 4, 0, 3));
  EXPECT_THAT(slots({.k = 2, .radius = 0.5f}), ElementsAre(5, 1));
  EXPECT_THAT(slots({.k = Policy::kAll}), SizeIs(6));
  EXPECT_THAT(slots({.k = Policy::kAll, .radius = -1}), IsEmpty());
  EXPECT_THROW(slots({.k = Policy::kAll, .radius = NAN}), Error);
  Bitmap only(6);
  EXPECT_THAT(slots({.only = &only}), IsEmpty());
  only.Set(2), only.Set(4);
  EXPECT_THAT(slots({.only = &only}), ElementsAre(4, 2));
}

TEST(CosineIndex, NothingToDo) {
  const std::vector<float> two = {1, 0};
  EXPECT_THAT(Search({}, 2, two, {}), ElementsAre(IsEmpty()));
  EXPECT_THAT(Search(two, 2, {}, {}), IsEmpty());
  EXPECT_THAT(Search(two, 2, two, {.k = 0}), ElementsAre(IsEmpty()));
  // The zero query is equally far from all.
  EXPECT_THAT(Search({1, 0, 0, 1}, 2, {0, 0}, {}),
              ElementsAre(ElementsAre(SlotHit{0, 1}, SlotHit{1, 1})));
}

TEST(CosineIndex, AgreesWithSortingEverything) {
  Random random(1, {}, "cosine index");
  for (int dims : {1, 3, 16, 20, 64, 300}) {
    for (size_t n : {1, 70, 2000}) {  // the last is some blocks
      const std::vector<float> rows = Normals(random, n * dims);
      const std::vector<float> queries = Normals(random, 67 * dims);  // more than a batch
      Bitmap half(static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) {
        if (random.Below(2)) half.Set(static_cast<int64_t>(i));
      }
      const std::vector<Policy> policies = {{.k = 1},
                                            {.k = 50, .only = &half},
                                            {.k = 5000},
                                            {.k = Policy::kAll, .radius = 0.8f},
                                            {.k = 7, .radius = 0.7f, .only = &half}};
      for (const Policy& policy : policies) {
        const std::vector<Hits> hits = Search(rows, dims, queries, policy);
        ASSERT_THAT(hits, SizeIs(67));
        for (size_t q = 0; q < 67; q += 11) {
          EXPECT_EQ(hits[q], Judge(rows, dims, &queries[q * dims], policy))
              << dims << " " << n << " " << policy.k;
        }
      }
    }
  }
}

TEST(CosineIndex, EqualRowsComeInOrderOfTheirSlots) {
  Random random(2, {}, "cosine index");
  constexpr int kDims = 37, kKinds = 5, kRows = 6000;
  const std::vector<float> kinds = Normals(random, kDims * kKinds);
  std::vector<float> rows;
  for (int i = 0; i < kRows; ++i) {
    // Of one direction, whatever their length.
    const float scale = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 1.0f / 16;
    const float* kind = &kinds[random.Below(kKinds) * kDims];
    for (int d = 0; d < kDims; ++d) rows.push_back(kind[d] * scale);
  }
  const std::vector<float> query = Normals(random, kDims);
  for (int64_t k : {1, 100, 3000, kRows}) {
    EXPECT_EQ(Search(rows, kDims, query, {.k = k})[0], Judge(rows, kDims, query.data(), {.k = k}));
  }
}

TEST(CosineIndex, TellsApartWhatFloat32SumsDoNot) {
  // Cosines that differ by some 1e-7 while sums of 300 products are off by as
  // much: whoever trusts the sums returns others.
  Random random(6, {}, "cosine index");
  constexpr int kDims = 300, kRows = 4000;
  const std::vector<float> query = Normals(random, kDims), centre = Normals(random, kDims);
  std::vector<float> rows;
  for (int i = 0; i < kRows; ++i) {
    for (int d = 0; d < kDims; ++d) {
      rows.push_back(centre[d] + 3e-6f * static_cast<float>(random.Normal()));
    }
  }
  for (int64_t k : {1, 10, 1000}) {
    EXPECT_EQ(Search(rows, kDims, query, {.k = k})[0], Judge(rows, kDims, query.data(), {.k = k}));
  }
  const Hits all = Judge(rows, kDims, query.data(), {.k = Policy::kAll});
  const Policy half = {.k = Policy::kAll, .radius = all[kRows / 2].distance};
  EXPECT_EQ(Search(rows, kDims, query, half)[0], Judge(rows, kDims, query.data(), half));
}

TEST(CosineIndex, SameHitsWhateverTheThreads) {
  Random random(3, {}, "cosine index");
  constexpr int kDims = 64, kRows = 3000;
  const std::vector<float> rows = Normals(random, kDims * kRows);
  const std::vector<float> queries = Normals(random, kDims * 130);
  const auto index = MakeCosineIndex(TableOf(rows, kDims));
  const auto bytes = std::as_bytes(std::span(queries));
  const auto one = index->Search(bytes, {.k = 20, .threads = 1});
  EXPECT_EQ(index->Search(bytes, {.k = 20, .threads = 2}), one);
  EXPECT_EQ(index->Search(bytes, {.k = 20, .threads = 7}), one);
  // Alone or in a batch.
  for (size_t q : {0, 63, 64, 129}) {
    const auto alone = index->Search(bytes.subspan(q * kDims * 4, kDims * 4), {.k = 20});
    EXPECT_THAT(alone, ElementsAre(one[q]));
  }
}

TEST(CosineIndex, ManyMaySearchFromTheStart) {
  Random random(4, {}, "cosine index");
  const std::vector<float> rows = Normals(random, 8 * 1000), query = Normals(random, 8);
  const auto expected = Search(rows, 8, query, {});
  const auto index = MakeCosineIndex(TableOf(rows, 8));
  std::vector<std::vector<Hits>> hits(8);
  {
    std::vector<std::jthread> threads;
    for (auto& answer : hits) {
      threads.emplace_back([&] { answer = index->Search(std::as_bytes(std::span(query)), {}); });
    }
  }
  EXPECT_THAT(hits, testing::Each(expected));
}

TEST(CosineIndex, HugeAndTinyRowsKeepTheirDirection) {
  // In float32 the sums of the first two overflow, to either side, and the
  // squares of the next vanish.
  std::vector<float> rows = {3e38f,  3e38f,  -3e38f, -3e38f, 1e-40f, 2e-40f,
                             1e-20f, 1e-20f, 1e18f,  -1e17f, 1e-42f, -1e-42f};
  Random random(5, {}, "cosine index");
  const std::vector<float> more = Normals(random, 2 * 50);
  rows.insert(rows.end(), more.begin(), more.end());
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = Normals(random, 2);
    for (int64_t k : {3, 30, 56}) {
      EXPECT_EQ(Search(rows, 2, query, {.k = k})[0], Judge(rows, 2, query.data(), {.k = k}));
    }
  }
  EXPECT_THAT(Slots(Search(rows, 2, {3e38f, 3e38f}, {.k = 2})[0]), ElementsAre(0, 3));
}

TEST(CosineIndex, NeverReturnsRowsThatAreNotFinite) {
  std::vector<float> rows = {1, NAN, kInfinity, 1, -kInfinity, kInfinity, 1, 1, -kInfinity, 0};
  EXPECT_THAT(Slots(Search(rows, 2, {1, 0}, {})[0]), ElementsAre(3));
  EXPECT_THAT(Slots(Search(rows, 2, {0, 0}, {})[0]), ElementsAre(3));
  EXPECT_THAT(Slots(Search(rows, 2, {-1, -1}, {.k = Policy::kAll, .radius = 2})[0]),
              ElementsAre(3));
}

TEST(CosineIndex, RefusesWhatDoesNotFit) {
  const std::vector<float> two = {1, 0}, three = {1, 0, 0};
  EXPECT_THROW(Search(two, 2, three, {}), Error);
  EXPECT_THROW(Search(two, 2, two, {.k = -1}), Error);
  EXPECT_THROW(Search(two, 2, {NAN, 1}, {}), Error);
  EXPECT_THROW(Search(two, 2, {1, 0, 1, -kInfinity}, {}), Error);
  const Bitmap other(2);
  EXPECT_THROW(Search(two, 2, two, {.only = &other}), Error);
}

}  // namespace
}  // namespace crossilo

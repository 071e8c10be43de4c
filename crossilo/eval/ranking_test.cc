#include "crossilo/eval/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "crossilo/base/random.h"

namespace crossilo {

bool operator==(const Ranking::Group& a, const Ranking::Group& b) {
  return a.size == b.size && a.relevant == b.relevant;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Group = Ranking::Group;

TEST(Ranking, ByDistanceThenDatabaseOrder) {
  const std::vector<uint16_t> distances = {2, 0, 2, 3, 0, 2};
  const std::vector<uint8_t> relevant = {1, 0, 0, 1, 1, 1};
  Ranking ranking;
  RankByDistance(distances, relevant, 4, 4, ranking);
  // Order: rows 1 4 | 0 2 5 | 3, so the relevant rows 4, 0, 5, 3 have ranks 2, 3, 5, 6.
  EXPECT_THAT(ranking.hit_ranks, ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(ranking.top, ElementsAre(1, 4, 0, 2));
  EXPECT_THAT(ranking.groups,
              ElementsAre(Group{2, 1}, Group{0, 0}, Group{3, 2}, Group{1, 1}, Group{0, 0}));
  EXPECT_EQ(ranking.size, 6u);
}

TEST(Ranking, ByCosineThenDatabaseOrder) {
  const std::vector<float> cosines = {0.0f, -0.5f, 0.9f, -0.0f, 0.9f, -1.0f};
  const std::vector<uint8_t> relevant = {0, 1, 1, 1, 0, 0};
  Ranking ranking;
  std::vector<uint64_t> keys;
  RankByCosine(cosines, relevant, 9, keys, ranking);
  EXPECT_THAT(ranking.top, ElementsAre(2, 4, 0, 3, 1, 5));  // 0 and -0 are the same
  EXPECT_THAT(ranking.hit_ranks, ElementsAre(1, 4, 5));
  EXPECT_THAT(ranking.groups, ElementsAre(Group{2, 1}, Group{2, 1}, Group{1, 1}, Group{1, 0}));
}

TEST(Ranking, OfNothing) {
  Ranking ranking;
  std::vector<uint64_t> keys;
  RankByDistance({}, {}, 2, 5, ranking);
  EXPECT_THAT(ranking.hit_ranks, IsEmpty());
  EXPECT_THAT(ranking.groups, ElementsAre(Group{}, Group{}, Group{}));
  RankByCosine({}, {}, 5, keys, ranking);
  EXPECT_THAT(ranking.groups, IsEmpty());
}

TEST(Ranking, AgreesWithAStableSortWhenMemoryIsUsedAgain) {
  Random random(1);
  Ranking by_distance, by_cosine;
  std::vector<uint64_t> keys;
  for (int round = 0; round < 300; ++round) {
    const size_t n = random.Below(60);
    const int most = static_cast<int>(random.Below(5));
    std::vector<uint16_t> distances(n);
    std::vector<float> cosines(n);
    std::vector<uint8_t> relevant(n);
    for (size_t i = 0; i < n; ++i) {
      distances[i] = static_cast<uint16_t>(random.Below(most + 1));
      cosines[i] = 0.5f - distances[i];  // the same order
      relevant[i] = random.Below(3) == 0;
    }
    std::vector<uint32_t> order(n), hit_ranks;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return distances[a] < distances[b]; });
    for (size_t r = 0; r < n; ++r) {
      if (relevant[order[r]]) hit_ranks.push_back(static_cast<uint32_t>(r + 1));
    }
    RankByDistance(distances, relevant, most, 1000, by_distance);
    RankByCosine(cosines, relevant, 1000, keys, by_cosine);
    EXPECT_EQ(by_distance.top, order);
    EXPECT_EQ(by_distance.hit_ranks, hit_ranks);
    EXPECT_EQ(by_cosine.top, order);
    EXPECT_EQ(by_cosine.hit_ranks, hit_ranks);
  }
}

}  // namespace
}  // namespace crossilo

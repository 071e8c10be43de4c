#include "crossilo/eval/measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using Group = Ranking::Group;

std::vector<uint32_t> HitRanks(const std::vector<uint8_t>& relevant_in_order) {
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i < relevant_in_order.size(); ++i) {
    if (relevant_in_order[i]) ranks.push_back(static_cast<uint32_t>(i + 1));
  }
  return ranks;
}

double Harmonic(uint32_t n) {
  const auto inverses = Inverses(n);
  return std::accumulate(inverses.begin(), inverses.end(), 0.0);
}

TEST(Measures, AveragePrecision) {
  const std::vector<uint32_t> ranks = {1, 3, 4};
  EXPECT_DOUBLE_EQ(AveragePrecision(ranks), (1.0 / 1 + 2.0 / 3 + 3.0 / 4) / 3);
  EXPECT_DOUBLE_EQ(AveragePrecision(std::span(ranks).first(2)), (1.0 / 1 + 2.0 / 3) / 2);
  EXPECT_EQ(AveragePrecision({}), 0);
  std::vector<uint32_t> every_second(100);  // hit h at rank 2h: each precision is 1/2
  for (uint32_t h = 0; h < 100; ++h) every_second[h] = 2 * (h + 1);
  EXPECT_DOUBLE_EQ(AveragePrecision(every_second), 0.5);
}

TEST(Measures, TieAwareOfOneTieWorkedByHand) {
  // Two items tied, one relevant: AP is 1 or 1/2, 3/4 on average.
  EXPECT_DOUBLE_EQ(TieAwareAveragePrecision(std::vector<Group>{{2, 1}}, Inverses(2)), 0.75);
  // A hit first, then that tie: second hit at rank 2 or 3, (1 + 2/2)/2 or (1 + 2/3)/2.
  EXPECT_DOUBLE_EQ(TieAwareAveragePrecision(std::vector<Group>{{1, 1}, {2, 1}}, Inverses(3)),
                   (1 + (1 + 2.0 / 3) / 2) / 2);
  EXPECT_EQ(TieAwareAveragePrecision(std::vector<Group>{{5, 0}}, Inverses(5)), 0);
}

// The mean of AP over every order inside every group, by going through them all.
double MeanOverOrders(const std::vector<Group>& groups, size_t from, std::vector<uint8_t>& order) {
  if (from == groups.size()) return AveragePrecision(HitRanks(order));
  std::vector<uint8_t> group(groups[from].size);
  std::fill(group.end() - groups[from].relevant, group.end(), 1);  // sorted: the first order
  double sum = 0;
  int orders = 0;
  const size_t before = order.size();
  do {  // orders that differ only in who is which 0 or 1 are equally many for each
    order.insert(order.end(), group.begin(), group.end());
    sum += MeanOverOrders(groups, from + 1, order);
    order.resize(before);
    ++orders;
  } while (std::next_permutation(group.begin(), group.end()));
  return sum / orders;
}

TEST(Measures, TieAwareIsTheMeanOverAllOrdersOfTheTies) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Group> groups(1 + random.Below(3));
    uint32_t size = 0;
    for (Group& group : groups) {
      group.size = static_cast<uint32_t>(random.Below(6));
      group.relevant = static_cast<uint32_t>(random.Below(group.size + 1));
      size += group.size;
    }
    std::vector<uint8_t> order;
    EXPECT_NEAR(TieAwareAveragePrecision(groups, Inverses(size)), MeanOverOrders(groups, 0, order),
                1e-12);
  }
}

TEST(Measures, ChanceWorkedByHand) {
  EXPECT_DOUBLE_EQ(ChanceAveragePrecision(1, 1, Harmonic(1)), 1);
  EXPECT_DOUBLE_EQ(ChanceAveragePrecision(2, 1, Harmonic(2)), 0.75);
  EXPECT_DOUBLE_EQ(ChanceAveragePrecision(7, 7, Harmonic(7)), 1);
  EXPECT_EQ(ChanceAveragePrecision(7, 0, Harmonic(7)), 0);
  // Two of three: orders 110, 101, 011 with AP 1, (1 + 2/3)/2, (1/2 + 2/3)/2.
  EXPECT_DOUBLE_EQ(ChanceAveragePrecision(3, 2, Harmonic(3)),
                   (1 + (1 + 2.0 / 3) / 2 + (1.0 / 2 + 2.0 / 3) / 2) / 3);
}

TEST(Measures, ChanceIsTheMeanOverShuffles) {
  Random random(2);
  for (const auto& [n, relevant] : {std::pair{30, 1}, {30, 10}, {200, 25}}) {
    std::vector<uint8_t> order(n);
    std::fill(order.begin(), order.begin() + relevant, 1);
    double sum = 0, squares = 0;
    constexpr int kShuffles = 20000;
    for (int i = 0; i < kShuffles; ++i) {
      random.Shuffle(order);
      const double ap = AveragePrecision(HitRanks(order));
      sum += ap;
      squares += ap * ap;
    }
    const double mean = sum / kShuffles;
    const double error = std::sqrt((squares / kShuffles - mean * mean) / kShuffles);
    EXPECT_NEAR(ChanceAveragePrecision(n, relevant, Harmonic(n)), mean, 5 * error);
  }
}

TEST(Measures, InterpolatedPrecisionIsTheBestFromThereOn) {
  // Hits at 1, 4, 5: precision 1, 1/2, 3/5 at recall 1/3, 2/3, 1.
  const std::vector<uint32_t> ranks = {1, 4, 5};
  std::vector<double> levels(4);  // recall 0, 1/3, 2/3, 1
  InterpolatedPrecision(ranks, levels);
  EXPECT_THAT(levels, ElementsAre(1, 1, DoubleEq(0.6), DoubleEq(0.6)));
  levels.resize(3);  // recall 0, 1/2, 1: half of three hits takes two
  InterpolatedPrecision(ranks, levels);
  EXPECT_THAT(levels, ElementsAre(1, DoubleEq(0.6), DoubleEq(0.6)));
}

TEST(Measures, DiscountedGain) {
  const auto discounts = Discounts(3);
  EXPECT_THAT(discounts, ElementsAre(0, 1, DoubleEq(1 / std::log2(3.0)), DoubleEq(0.5)));
  EXPECT_DOUBLE_EQ(DiscountedGain(std::vector<uint16_t>{2, 0, 3}, discounts), 2 + 3 * 0.5);
  EXPECT_THAT(LargestGains(std::vector<uint16_t>{1, 5, 0, 2, 5}, 3), ElementsAre(5, 5, 2));
  EXPECT_THAT(LargestGains(std::vector<uint16_t>{1, 2}, 3), ElementsAre(2, 1));
}

}  // namespace
}  // namespace crossilo

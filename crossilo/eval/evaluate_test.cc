#include "crossilo/eval/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Codes of 8 bits, each with as many ones as its number says.
PackedCodes CodesWithOnes(const std::vector<int>& ones) {
  PackedCodes codes(ones.size(), 8);
  for (size_t i = 0; i < ones.size(); ++i) {
    for (int b = 0; b < ones[i]; ++b) codes.SetBit(i, b);
  }
  return codes;
}

// One query 00000000 with labels 0 and 1.  Distances 2 0 1 1 3; the rank order
// is rows 1 2 3 0 4 with 0 1 2 1 0 shared labels: hits at ranks 2, 3, 4.
class EvaluateOne : public testing::Test {
 protected:
  const PackedCodes query_ = CodesWithOnes({0});
  const PackedCodes database_ = CodesWithOnes({2, 0, 1, 1, 3});
  const Relevance relevance_ = Relevance::FromLabels(std::vector<uint8_t>{1, 1, 0},
                                                     std::vector<uint8_t>{0, 1, 0,   //
                                                                          0, 0, 1,   //
                                                                          1, 0, 0,   //
                                                                          1, 1, 1,   //
                                                                          0, 0, 0},  //
                                                     3);
  EvaluateOptions options_ = {.cutoffs = {1, 2, 3, 10}};
};

TEST_F(EvaluateOne, MeanAveragePrecision) {
  const Report report = Evaluate(query_, database_, relevance_, options_);
  EXPECT_DOUBLE_EQ(report.map, (1.0 / 2 + 2.0 / 3 + 3.0 / 4) / 3);
  // The tie at distance 1 holds two relevant items: its order changes nothing.
  EXPECT_DOUBLE_EQ(report.tie_aware_map, report.map);
  // Three of five: (1/5) (H + 2/4 (5 - H)) with H = 1 + 1/2 + 1/3 + 1/4 + 1/5 = 137/60.
  EXPECT_DOUBLE_EQ(report.chance, (137.0 / 60 + (5 - 137.0 / 60) / 2) / 5);
  EXPECT_EQ(report.queries, 1);
  EXPECT_EQ(report.queries_without_relevant, 0);
}

TEST_F(EvaluateOne, AtCutoffs) {
  const Report report = Evaluate(query_, database_, relevance_, options_);
  EXPECT_THAT(report.map_at,
              ElementsAre(Pair(1, 0), Pair(2, 0.5), Pair(3, DoubleEq((1.0 / 2 + 2.0 / 3) / 2)),
                          Pair(10, DoubleEq((1.0 / 2 + 2.0 / 3 + 3.0 / 4) / 3))));
  EXPECT_THAT(report.precision_at, ElementsAre(Pair(1, 0), Pair(2, 0.5), Pair(3, DoubleEq(2.0 / 3)),
                                               Pair(10, DoubleEq(0.3))));
  EXPECT_THAT(report.recall_at, ElementsAre(Pair(1, 0), Pair(2, DoubleEq(1.0 / 3)),
                                            Pair(3, DoubleEq(2.0 / 3)), Pair(10, 1)));
}

TEST_F(EvaluateOne, Ndcg) {
  // Discounts of ranks 1 to 4: 1, 1/log2(3), 1/2, 1/log2(5).
  const double d2 = 1 / std::log2(3.0), d3 = 0.5, d4 = 1 / std::log2(5.0);
  Report report = Evaluate(query_, database_, relevance_, options_);
  EXPECT_THAT(report.ndcg_at, ElementsAre(Pair(1, 0), Pair(2, DoubleEq(d2 / (1 + d2))),
                                          Pair(3, DoubleEq((d2 + d3) / (1 + d2 + d3))),
                                          Pair(10, DoubleEq((d2 + d3 + d4) / (1 + d2 + d3)))));
  // Gains in rank order 0 1 2 1 0; the best order is 2 1 1 0 0.
  options_.gain = Gain::kSharedLabels;
  report = Evaluate(query_, database_, relevance_, options_);
  EXPECT_THAT(report.ndcg_at, ElementsAre(Pair(1, 0), Pair(2, DoubleEq(d2 / (2 + d2))),
                                          Pair(3, DoubleEq((d2 + 2 * d3) / (2 + d2 + d3))),
                                          Pair(10, DoubleEq((d2 + 2 * d3 + d4) / (2 + d2 + d3)))));
}

TEST_F(EvaluateOne, Curves) {
  const Report report = Evaluate(query_, database_, relevance_, options_);
  // Within radius 0: row 1; within 1: rows 1 2 3, two hits; within 2 also row 0; then all five.
  EXPECT_THAT(report.radius_precision,
              ElementsAre(0, DoubleEq(2.0 / 3), 0.75, DoubleEq(0.6), 0.6, 0.6, 0.6, 0.6, 0.6));
  EXPECT_THAT(report.radius_recall, ElementsAre(0, DoubleEq(2.0 / 3), 1, 1, 1, 1, 1, 1, 1));
  // Precision 1/2, 2/3, 3/4 rises to the last hit, so the best from anywhere on is 3/4.
  EXPECT_THAT(report.precision_at_recall, testing::SizeIs(101));
  EXPECT_THAT(report.precision_at_recall, testing::Each(0.75));
}

TEST(Evaluate, TiesComeInDatabaseOrder) {
  const PackedCodes query = CodesWithOnes({0}), database = CodesWithOnes({1, 1});
  const std::vector<int64_t> mine = {7};
  const EvaluateOptions options = {.cutoffs = {1}};
  const auto first = Relevance::FromPairs(mine, std::vector<int64_t>{7, 8});
  const auto second = Relevance::FromPairs(mine, std::vector<int64_t>{8, 7});
  EXPECT_EQ(Evaluate(query, database, first, options).map, 1);
  EXPECT_EQ(Evaluate(query, database, second, options).map, 0.5);
  EXPECT_EQ(Evaluate(query, database, first, options).tie_aware_map, 0.75);
  EXPECT_EQ(Evaluate(query, database, second, options).tie_aware_map, 0.75);
}

TEST(Evaluate, ByPairsRecallIsTheShareOfQueriesAnswered) {
  // Query 0 finds both of its items at once, query 1 its only one at rank 3.
  const PackedCodes queries = CodesWithOnes({0, 0}), database = CodesWithOnes({0, 1, 2});
  const auto relevance =
      Relevance::FromPairs(std::vector<int64_t>{4, 5}, std::vector<int64_t>{4, 4, 5});
  const Report report = Evaluate(queries, database, relevance, {.cutoffs = {1, 2, 3}});
  EXPECT_THAT(report.recall_at, ElementsAre(Pair(1, 0.5), Pair(2, 0.5), Pair(3, 1)));
  EXPECT_DOUBLE_EQ(report.map, (1 + 1.0 / 3) / 2);
}

TEST(Evaluate, QueriesWithoutRelevantItemsCountOrAreDropped) {
  const PackedCodes queries = CodesWithOnes({0, 0, 0}), database = CodesWithOnes({0, 1});
  const auto relevance =
      Relevance::FromPairs(std::vector<int64_t>{1, 9, 2}, std::vector<int64_t>{1, 2});
  Report report = Evaluate(queries, database, relevance, {.cutoffs = {1}});
  EXPECT_EQ(report.queries, 3);
  EXPECT_EQ(report.queries_without_relevant, 1);
  EXPECT_DOUBLE_EQ(report.map, (1 + 0 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(report.chance, (0.75 + 0 + 0.75) / 3);
  report = Evaluate(queries, database, relevance,
                    {.cutoffs = {1}, .empty_queries = EmptyQueries::kDrop});
  EXPECT_EQ(report.queries, 3);
  EXPECT_DOUBLE_EQ(report.map, (1 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(report.chance, 0.75);
  EXPECT_DOUBLE_EQ(report.map_at[1], 0.5);  // no hit within 1 is not the same as none at all
}

TEST(Evaluate, NothingToFindOrNobodyAskingIsZero) {
  const auto none = Relevance::FromPairs(std::vector<int64_t>{1}, {});
  const Report report = Evaluate(PackedCodes(1, 16), PackedCodes(0, 16), none);
  EXPECT_EQ(report.map, 0);
  EXPECT_EQ(report.queries_without_relevant, 1);
  const auto nobody = Relevance::FromPairs({}, std::vector<int64_t>{1});
  for (auto empty : {EmptyQueries::kCountAsZero, EmptyQueries::kDrop}) {
    EXPECT_EQ(
        Evaluate(PackedCodes(0, 16), PackedCodes(1, 16), nobody, {.empty_queries = empty}).map, 0);
  }
}

TEST(Evaluate, CosineWorkedByHand) {
  // Cosines to (1, 0): 0.6, 0 (a zero row), 1, 0.6 again, -1.
  const std::vector<float> query = {2, 0}, database = {3, 4, 0, 0, 5, 0, 3, -4, -1, 0};
  const auto relevance =
      Relevance::FromPairs(std::vector<int64_t>{1}, std::vector<int64_t>{0, 1, 0, 1, 1});
  const Report report = EvaluateCosine(query, database, 2, relevance, {.cutoffs = {3}});
  // Rank order rows 2, 0, 3, 1, 4: hits at ranks 3, 4, 5.
  EXPECT_DOUBLE_EQ(report.map, (1.0 / 3 + 2.0 / 4 + 3.0 / 5) / 3);
  // Rows 0 and 3 are tied: the first hit is at rank 2 or 3.
  EXPECT_DOUBLE_EQ(report.tie_aware_map, ((1.0 / 2 + 1.0 / 3) / 2 + 2.0 / 4 + 3.0 / 5) / 3);
  EXPECT_DOUBLE_EQ(report.precision_at.at(3), 1.0 / 3);
  EXPECT_THAT(report.radius_precision, IsEmpty());
}

TEST(Evaluate, TheSameToTheLastBitForAnyNumberOfThreads) {
  Random random(1);
  std::vector<float> queries(1100 * 16), database(300 * 16);  // more queries than a batch
  for (float& v : queries) v = static_cast<float>(random.Normal());
  for (float& v : database) v = static_cast<float>(random.Normal());
  std::vector<uint8_t> query_labels(1100 * 5), database_labels(300 * 5);
  for (uint8_t& v : query_labels) v = random.Below(4) == 0;
  for (uint8_t& v : database_labels) v = random.Below(4) == 0;
  const auto relevance = Relevance::FromLabels(query_labels, database_labels, 5);
  const PackedCodes from = Pack(queries.data(), 1100, 16), to = Pack(database.data(), 300, 16);
  EvaluateOptions options = {.threads = 1};
  const Report codes = Evaluate(from, to, relevance, options);
  const Report cosine = EvaluateCosine(queries, database, 16, relevance, options);
  for (int threads : {2, 3, 8}) {
    options.threads = threads;
    EXPECT_EQ(Evaluate(from, to, relevance, options), codes);
    EXPECT_EQ(EvaluateCosine(queries, database, 16, relevance, options), cosine);
  }
}

TEST(Evaluate, RefusesWhatDoesNotFitTogether) {
  const auto relevance = Relevance::FromPairs(std::vector<int64_t>{1}, std::vector<int64_t>{1, 2});
  EXPECT_NO_THROW(Evaluate(PackedCodes(1, 16), PackedCodes(2, 16), relevance));
  EXPECT_THROW(Evaluate(PackedCodes(2, 16), PackedCodes(2, 16), relevance), Error);
  EXPECT_THROW(Evaluate(PackedCodes(1, 16), PackedCodes(1, 16), relevance), Error);
  EXPECT_THROW(Evaluate(PackedCodes(1, 16), PackedCodes(2, 32), relevance), Error);
  EXPECT_THROW(Evaluate(PackedCodes(1, 16), PackedCodes(2, 16), relevance, {.cutoffs = {0}}),
               Error);
  const std::vector<float> one(3), two(6);
  EXPECT_NO_THROW(EvaluateCosine(one, two, 3, relevance));
  EXPECT_THROW(EvaluateCosine(one, one, 3, relevance), Error);
  EXPECT_THROW(EvaluateCosine(one, two, 2, relevance), Error);
  EXPECT_THROW(EvaluateCosine(std::vector<float>{1, 2, NAN}, two, 3, relevance), Error);
}

}  // namespace
}  // namespace crossilo

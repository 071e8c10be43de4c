#include "crossilo/eval/relevance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;

TEST(Relevance, OneSharedLabelIsEnough) {
  const std::vector<uint8_t> queries = {1, 0, 1,   // labels 0 and 2
                                        0, 0, 0};  // none
  const std::vector<uint8_t> database = {0, 1, 0,  //
                                         0, 0, 1,  //
                                         7, 1, 1,  // any value but 0 is a label
                                         0, 0, 0};
  const auto relevance = Relevance::FromLabels(queries, database, 3);
  EXPECT_EQ(relevance.queries(), 2);
  EXPECT_EQ(relevance.database(), 4);
  std::vector<uint8_t> relevant(4);
  std::vector<uint16_t> gains(4);
  relevance.Mark(0, relevant);
  relevance.Gains(0, gains);
  EXPECT_THAT(relevant, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(gains, ElementsAre(0, 1, 2, 0));
  relevance.Mark(1, relevant);  // no label, nothing relevant, not even to itself
  EXPECT_THAT(relevant, ElementsAre(0, 0, 0, 0));
}

TEST(Relevance, ByPairsIsTheSameId) {
  const auto relevance =
      Relevance::FromPairs(std::vector<int64_t>{-5, 8}, std::vector<int64_t>{8, -5, -5});
  std::vector<uint8_t> relevant(3);
  std::vector<uint16_t> gains(3);
  relevance.Mark(0, relevant);
  relevance.Gains(0, gains);
  EXPECT_THAT(relevant, ElementsAre(0, 1, 1));
  EXPECT_THAT(gains, ElementsAre(0, 1, 1));
  EXPECT_TRUE(relevance.by_pairs());
}

TEST(Relevance, AnyNumberOfClassesAgreesWithCountingOneByOne) {
  Random random(1);
  for (int64_t classes : {1, 21, 63, 64, 65, 81, 128, 200}) {
    std::vector<uint8_t> queries(classes), database(50 * classes);
    for (uint8_t& v : queries) v = random.Below(10) == 0;
    for (uint8_t& v : database) v = random.Below(10) == 0;
    const auto relevance = Relevance::FromLabels(queries, database, classes);
    std::vector<uint8_t> relevant(50);
    std::vector<uint16_t> gains(50);
    relevance.Mark(0, relevant);
    relevance.Gains(0, gains);
    for (int64_t i = 0; i < 50; ++i) {
      int shared = 0;
      for (int64_t c = 0; c < classes; ++c) shared += queries[c] && database[i * classes + c];
      EXPECT_EQ(gains[i], shared);
      EXPECT_EQ(relevant[i], shared > 0);
    }
  }
}

TEST(Relevance, RefusesRowsThatAreNotWhole) {
  const std::vector<uint8_t> five(5), six(6);
  EXPECT_THROW(Relevance::FromLabels(five, six, 3), Error);
  EXPECT_THROW(Relevance::FromLabels(six, five, 3), Error);
  EXPECT_THROW(Relevance::FromLabels(six, six, 0), Error);
  EXPECT_THROW(Relevance::FromLabels(six, six, -3), Error);
}

}  // namespace
}  // namespace crossilo

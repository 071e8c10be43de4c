#include "crossilo/codes/cosine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

TEST(Cosine, OfVectorsWorkedByHand) {
  const std::vector<float> rows = {3, 4, 0, 0, -6, -8, 4, -3};
  const std::vector<float> unit = UnitRows(rows, 2);
  EXPECT_THAT(unit, ElementsAre(FloatEq(.6f), FloatEq(.8f), 0, 0, FloatEq(-.6f), FloatEq(-.8f),
                                FloatEq(.8f), FloatEq(-.6f)));
  float out[4];
  DotProducts(unit.data(), unit.data(), 4, 2, out);
  EXPECT_THAT(out, ElementsAre(FloatEq(1), 0, FloatEq(-1), testing::FloatNear(0, 1e-7f)));
}

TEST(Cosine, DotProductsAgreeWithSumsInDoubleForAnyLength) {
  Random random(1);
  for (size_t dim : {1, 2, 15, 16, 17, 31, 32, 33, 100}) {
    std::vector<float> query(dim), rows(3 * dim);
    for (float& v : query) v = static_cast<float>(random.Normal());
    for (float& v : rows) v = static_cast<float>(random.Normal());
    float out[3];
    DotProducts(query.data(), rows.data(), 3, dim, out);
    for (size_t i = 0; i < 3; ++i) {
      double expected = 0;
      for (size_t d = 0; d < dim; ++d) expected += double{query[d]} * rows[i * dim + d];
      EXPECT_NEAR(out[i], expected, 1e-4) << dim;
    }
  }
}

TEST(Cosine, InDoubleForAnyLengthOfVectors) {
  const std::vector<float> a = {3, 4}, b = {4, 3}, zero = {0, 0}, bad = {1, NAN};
  const std::vector<float> huge = {3e38f, 3e38f}, tiny = {1e-40f, 1e-40f};
  EXPECT_DOUBLE_EQ(Cosine(a.data(), b.data(), 2), 0.96);  // (12 + 12) / 25
  EXPECT_EQ(SquaredLength(a.data(), 2), 25);
  EXPECT_EQ(Cosine(a.data(), zero.data(), 2), 0);
  EXPECT_NEAR(Cosine(huge.data(), tiny.data(), 2), 1, 1e-15);
  EXPECT_TRUE(std::isnan(Cosine(zero.data(), bad.data(), 2)));
  for (size_t dim : {1, 7, 8, 9, 100}) {  // (1, 1, ...) with (1, 2, ...)
    std::vector<float> ones(dim, 1), up(dim);
    double squares = 0, sum = 0;
    for (size_t d = 0; d < dim; ++d) up[d] = static_cast<float>(d + 1);
    for (float v : up) squares += v * v, sum += v;
    EXPECT_NEAR(Cosine(ones.data(), up.data(), dim), sum / std::sqrt(dim * squares), 1e-15);
  }
}

TEST(Cosine, DistanceIsNothingBetweenVectorsOfOneDirection) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    std::vector<float> a(10), b(10);
    for (float& v : a) v = static_cast<float>(random.Below(1000)) - 500;
    for (size_t d = 0; d < 10; ++d) b[d] = 3 * a[d];
    EXPECT_EQ(CosineDistance(Cosine(a.data(), b.data(), 10)), 0);
    for (float& v : b) v = -v;
    EXPECT_EQ(CosineDistance(Cosine(a.data(), b.data(), 10)), 2);
  }
  EXPECT_EQ(CosineDistance(0), 1);
  EXPECT_EQ(CosineDistance(1 + 1e-15), 0);
}

TEST(Cosine, HugeAndTinyVectorsKeepTheirDirection) {
  const std::vector<float> rows = {3e38f, 3e38f, 1e-40f, 1e-40f};
  for (float v : UnitRows(rows, 2)) EXPECT_NEAR(v, 0.70710678, 1e-6);
}

TEST(Cosine, RefusesWhatIsNotRowsOfFiniteNumbers) {
  EXPECT_THROW(UnitRows(std::vector<float>(5), 2), Error);
  EXPECT_THROW(UnitRows(std::vector<float>(5), 0), Error);
  EXPECT_THROW(UnitRows(std::vector<float>{1, NAN}, 2), Error);
  EXPECT_THROW(UnitRows(std::vector<float>{1, std::numeric_limits<float>::infinity()}, 2), Error);
}

}  // namespace
}  // namespace crossilo

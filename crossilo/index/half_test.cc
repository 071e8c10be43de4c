#include "crossilo/index/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace crossilo {
namespace {

TEST(Half, WorkedByHand) {
  EXPECT_EQ(ToHalf(0.0f), 0x0000);
  EXPECT_EQ(ToHalf(-0.0f), 0x8000);
  EXPECT_EQ(ToHalf(1.0f), 0x3C00);   // exponent 15, mantissa 0
  EXPECT_EQ(ToHalf(-2.5f), 0xC100);  // -1.25 * 2: exponent 16, mantissa 256
  EXPECT_EQ(ToHalf(65504.0f), 0x7BFF);
  EXPECT_EQ(ToHalf(0x1p-24f), 0x0001);
  // Between 1 and 1 + 2^-10 the middle goes to the even one, 1; between
  // 1 + 2^-10 and 1 + 2^-9 to the even one above.
  EXPECT_EQ(ToHalf(1 + 0x1p-11f), 0x3C00);
  EXPECT_EQ(ToHalf(1 + 0x1p-11f + 0x1p-20f), 0x3C01);
  EXPECT_EQ(ToHalf(1 + 3 * 0x1p-11f), 0x3C02);
  // Half of the smallest goes to zero, anything above it up.
  EXPECT_EQ(ToHalf(0x1p-25f), 0x0000);
  EXPECT_EQ(ToHalf(0x1.8p-25f), 0x0001);
  // 65520 is the middle between 65504 and what would be 65536.
  EXPECT_EQ(ToHalf(std::nextafter(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(ToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(ToHalf(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_TRUE(std::isnan(FromHalf(ToHalf(std::nanf("")))));
}

TEST(Half, AllComeBack) {
  for (int half = 0; half < 0x10000; ++half) {
    const float value = FromHalf(static_cast<uint16_t>(half));
    if (std::isnan(value)) continue;
    ASSERT_EQ(ToHalf(value), half);
  }
}

// Between neighbours the nearer one is taken, by the arithmetic of doubles.
TEST(Half, TheNearestIsTaken) {
  for (int half = 0; half < 0x7BFF; ++half) {
    const double low = FromHalf(static_cast<uint16_t>(half));
    const double high = FromHalf(static_cast<uint16_t>(half + 1));
    ASSERT_LT(low, high);
    ASSERT_EQ(ToHalf(static_cast<float>(low + (high - low) * 0.375)), half);
    ASSERT_EQ(ToHalf(static_cast<float>(low + (high - low) * 0.625)), half + 1);
    ASSERT_EQ(ToHalf(static_cast<float>(low + (high - low) / 2)), half % 2 == 0 ? half : half + 1);
  }
}

}  // namespace
}  // namespace crossilo

#include "crossilo/codes/code_rows.h"

#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

TEST(CodeRows, LengthsThatMachinesLike) {
  EXPECT_EQ(RowBytes(8), 2);
  EXPECT_EQ(RowBytes(16), 2);
  EXPECT_EQ(RowBytes(24), 4);
  EXPECT_EQ(RowBytes(32), 4);
  EXPECT_EQ(RowBytes(40), 8);
  EXPECT_EQ(RowBytes(64), 8);
  EXPECT_EQ(RowBytes(72), 16);
  EXPECT_EQ(RowBytes(192), 24);
  EXPECT_EQ(RowBytes(256), 32);
}

TEST(CodeRows, BitsStandWhereTheHeaderSays) {
  PackedCodes codes(2, 24);
  codes.SetBit(1, 0);
  codes.SetBit(1, 17);
  const auto rows = ToRows(codes);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[4], std::byte{1});  // bit 0: byte 0, bit 0
  EXPECT_EQ(rows[6], std::byte{2});  // bit 17: byte 2, bit 1
  EXPECT_EQ(rows[7], std::byte{0});  // the padding
}

TEST(CodeRows, ThereAndBack) {
  Random random(1);
  for (int bits : {8, 16, 24, 32, 48, 64, 72, 128, 256, 1024}) {
    PackedCodes codes(5, bits);
    for (int i = 0; i < 5; ++i) {
      for (int b = 0; b < bits; ++b) {
        if (random.Below(2)) codes.SetBit(i, b);
      }
    }
    EXPECT_EQ(FromRows(ToRows(codes), bits), codes) << bits;
  }
  EXPECT_THROW(FromRows(std::vector<std::byte>(7), 64), Error);
}

}  // namespace
}  // namespace crossilo

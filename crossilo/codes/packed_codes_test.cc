#include "crossilo/codes/packed_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;

TEST(PackedCodes, AValueAboveZeroIsOne) {
  const float relaxed[] = {0.1f, 0, -0.0f, -1, 5, NAN, 1e-30f, -1e-30f};
  const PackedCodes codes = Pack(relaxed, 1, 8);
  // Bits 0, 4 and 6: 1 + 16 + 64.
  EXPECT_THAT(codes.words(), ElementsAre(81));
  EXPECT_THAT(codes.ToBytes(), ElementsAre(81));
  EXPECT_THAT(Unpack(codes), ElementsAre(1, -1, -1, -1, 1, -1, 1, -1));
}

TEST(PackedCodes, BitsFillWordsFromTheLowEndAndLeaveTheRestZero) {
  PackedCodes codes(2, 72);  // one word and a byte
  EXPECT_EQ(codes.words_per_code(), 2);
  codes.SetBit(0, 63);
  codes.SetBit(1, 0);
  codes.SetBit(1, 64);
  codes.SetBit(1, 71);
  EXPECT_THAT(codes.words(), ElementsAre(uint64_t{1} << 63, 0, 1, 0x81));
  EXPECT_THAT(codes.ToBytes(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0x80, 0,  //
                                           1, 0, 0, 0, 0, 0, 0, 0, 0x81));
  EXPECT_TRUE(codes.Bit(1, 71));
  EXPECT_FALSE(codes.Bit(1, 70));
  EXPECT_THAT(codes.Code(1), ElementsAre(1, 0x81));
}

TEST(PackedCodes, RoundTrips) {
  Random random(1);
  for (int bits : {8, 16, 24, 32, 64, 128, 200, 256, 1024}) {
    std::vector<float> relaxed(5 * bits);
    for (float& value : relaxed) value = random.Below(2) == 0 ? -1.0f : 1.0f;
    const PackedCodes codes = Pack(relaxed.data(), 5, bits);
    EXPECT_EQ(Unpack(codes), relaxed) << bits;
    EXPECT_EQ(PackedCodes::FromBytes(codes.ToBytes(), 5, bits), codes) << bits;
  }
}

TEST(PackedCodes, RefusesSizesThatDoNotFit) {
  const std::vector<uint8_t> bytes(8);
  EXPECT_EQ(PackedCodes::FromBytes(bytes, 4, 16).size(), 4);
  EXPECT_EQ(PackedCodes::FromBytes({}, 0, 16).size(), 0);
  EXPECT_THROW(PackedCodes::FromBytes(bytes, 5, 16), Error);
  EXPECT_THROW(PackedCodes::FromBytes(bytes, 3, 16), Error);
  EXPECT_THROW(PackedCodes::FromBytes(bytes, -1, 16), Error);
  EXPECT_THROW(PackedCodes::FromBytes(bytes, std::numeric_limits<int64_t>::max(), 16), Error);
  for (int bits : {-8, 0, 4, 12, 1032}) EXPECT_THROW(PackedCodes(1, bits), Error) << bits;
  EXPECT_THROW(PackedCodes(std::numeric_limits<int64_t>::max(), 64), Error);
}

}  // namespace
}  // namespace crossilo

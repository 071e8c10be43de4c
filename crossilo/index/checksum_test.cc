#include "crossilo/index/checksum.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace crossilo {
namespace {

// Published values of XXH64: below 4 bytes, below 32, and with a whole stripe.
TEST(Checksum, IsXxh64) {
  EXPECT_EQ(Checksum(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(Checksum("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(Checksum("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(Checksum("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
  EXPECT_EQ(Checksum("xxhash", 20141025), 0xB559B98D844E0635u);
}

TEST(Checksum, EveryBitOfEveryByteCounts) {
  std::string bytes = "forty-five bytes: one stripe, 8, 4 and 1 left";
  ASSERT_EQ(bytes.size(), 45u);
  std::set<uint64_t> seen{Checksum(bytes), Checksum(bytes, 1)};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_TRUE(seen.insert(Checksum(flipped)).second) << bit;
  }
}

}  // namespace
}  // namespace crossilo

#include "crossilo/codes/hamming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

TEST(Hamming, CountsDifferingBits) {
  const uint64_t query[] = {0b1011};
  const uint64_t codes[] = {0b1011, 0b1010, 0b0100, ~uint64_t{0b1011}};
  for (const HammingKernel& kernel : AvailableKernels()) {
    uint16_t out[4];
    kernel.distances(query, codes, 4, 1, out);
    // 1011 against 0100 differs everywhere in four bits; the complement in all 64.
    EXPECT_THAT(out, ElementsAre(0, 1, 4, 64)) << kernel.name;
  }
}

TEST(Hamming, AddsUpWords) {
  const uint64_t query[] = {0, ~uint64_t{0}, 1};
  const uint64_t codes[] = {0, 0, 0, 7, ~uint64_t{0}, 1};
  for (const HammingKernel& kernel : AvailableKernels()) {
    uint16_t out[2];
    kernel.distances(query, codes, 2, 3, out);
    EXPECT_THAT(out, ElementsAre(0 + 64 + 1, 3 + 0 + 0)) << kernel.name;
  }
}

std::vector<uint16_t> BitByBit(const std::vector<uint64_t>& query,
                               const std::vector<uint64_t>& codes, size_t n) {
  std::vector<uint16_t> out(n);
  for (size_t bit = 0; bit < n * query.size() * 64; ++bit) {
    const size_t word = bit / 64, i = word / query.size();
    const bool mine = query[word % query.size()] >> (bit % 64) & 1;
    const bool theirs = codes[word] >> (bit % 64) & 1;
    if (mine != theirs) ++out[i];
  }
  return out;
}

TEST(Hamming, EveryKernelAgreesWithBitByBitOnAnyNumberOfCodes) {
  Random random(1);
  const auto draw = [&](size_t n) {
    std::vector<uint64_t> words(n);
    for (uint64_t& word : words) word = random.Below(8) == 0 ? 0 : random.Bits();
    return words;
  };
  for (size_t words : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16}) {
    for (size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100}) {
      const auto query = draw(words), codes = draw(n * words);
      const auto expected = BitByBit(query, codes, n);
      for (const HammingKernel& kernel : AvailableKernels()) {
        // A guard at the end: no kernel may write past n.
        std::vector<uint16_t> out(n + 1, 9999);
        kernel.distances(query.data(), codes.data(), n, words, out.data());
        EXPECT_EQ(out.back(), 9999) << kernel.name;
        out.pop_back();
        EXPECT_THAT(out, ElementsAreArray(expected)) << kernel.name << " " << words << " " << n;
        HammingDistances(query.data(), codes.data(), n, words, out.data());
        EXPECT_EQ(out, expected);
      }
    }
  }
}

TEST(Hamming, ScalarIsAlwaysThereAndFirst) {
  EXPECT_EQ(AvailableKernels().front().name, std::string("scalar"));
}

}  // namespace
}  // namespace crossilo

#pragma once

// Codes and a judge for the tests of mih and auto.

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "crossilo/base/random.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/index/index.h"

namespace crossilo {

// Rows and their table.
struct TestCodes {
  std::vector<std::byte> rows;
  int bits = 0;

  Table table() const {
    return {.rows = rows.data(),
            .size = static_cast<int64_t>(rows.size()) / RowBytes(bits),
            .bits = bits};
  }
};

// Like learnt ones: around `centres` random codes, each bit flipped with a
// probability of its own between 0 and `spread`; every eighth bit is constant.
// No centres: coins.
inline TestCodes MakeCodes(int64_t size, int bits, int centres, double spread, uint64_t seed) {
  Random random(seed, {static_cast<uint64_t>(bits)}, "test codes");
  PackedCodes middle(std::max(1, centres), bits), codes(size, bits);
  for (int64_t c = 0; c < middle.size(); ++c) {
    for (int b = 0; b < bits; ++b) {
      if (random.Below(2) == 1 && b % 8 != 7) middle.SetBit(c, b);
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    const auto centre = static_cast<int64_t>(random.Below(middle.size()));
    for (int b = 0; b < bits; ++b) {
      const double flip = centres == 0 ? 0.5 : b % 8 == 7 ? 0 : spread * (b % 5) / 4;
      if (middle.Bit(centre, b) != (random.Uniform() < flip)) codes.SetBit(i, b);
    }
  }
  return {.rows = ToRows(codes), .bits = bits};
}

// Every slot that a filter lets through, sorted.
inline std::vector<SlotHit> SortedHits(const Table& table, const std::byte* query,
                                       const Bitmap* only) {
  const int64_t row_bytes = table.row_bytes();
  std::vector<SlotHit> hits;
  for (int64_t i = 0; i < table.size; ++i) {
    if (only != nullptr && !only->Has(i)) continue;
    int distance = 0;
    for (int64_t b = 0; b < row_bytes; ++b) {
      distance += std::popcount(static_cast<uint8_t>(table.rows[i * row_bytes + b] ^ query[b]));
    }
    hits.push_back({static_cast<uint32_t>(i), static_cast<float>(distance)});
  }
  std::sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) { return Nearer(a, b); });
  return hits;
}

// Those of sorted hits that a policy wants.
inline std::vector<SlotHit> Cut(std::vector<SlotHit> hits, const Policy& policy) {
  std::erase_if(hits, [&](const SlotHit& hit) { return hit.distance > policy.radius; });
  if (std::ssize(hits) > policy.k) hits.resize(policy.k);
  return hits;
}

// A copy of built tables that is aligned as a mapped file is.
class AlignedBytes {
 public:
  explicit AlignedBytes(const std::string& bytes)
      : memory_(bytes.size() + 64), size_(bytes.size()) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    begin_ = memory_.data() + (64 - address % 64) % 64;
    std::memcpy(begin_, bytes.data(), size_);
  }
  std::span<std::byte> bytes() { return {begin_, size_}; }

 private:
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  size_t size_ = 0;
};

}  // namespace crossilo

#include "crossilo/index/mih_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "crossilo/index/code_sample.h"
#include "crossilo/index/mih_tables.h"

namespace crossilo {

KeyDealer::KeyDealer(const Table& table) {
  const CodeSample sample(table, 4096);
  const auto blocks = static_cast<size_t>((sample.size() + 63) / 64);
  std::vector<std::vector<uint64_t>> column(table.bits, std::vector<uint64_t>(blocks));
  for (int64_t i = 0; i < sample.size(); ++i) {
    for (int b = 0; b < table.bits; ++b) {
      column[b][i / 64] |= uint64_t{sample.Bit(i, b)} << (i % 64);
    }
  }
  std::vector<int64_t> ones(table.bits);
  for (int b = 0; b < table.bits; ++b) {
    for (uint64_t word : column[b]) ones[b] += std::popcount(word);
    if (ones[b] > 0 && ones[b] < sample.size()) bits_.push_back(static_cast<uint16_t>(b));
  }
  std::ranges::stable_sort(bits_, {}, [&](int b) { return std::abs(2 * ones[b] - sample.size()); });
  const auto most = static_cast<size_t>(kMostMihTables * kMostKeyBits);
  if (bits_.size() > most) bits_.resize(most);
  const auto n = static_cast<double>(sample.size());
  for (uint16_t a : bits_) {
    std::vector<int32_t>& row = alike_.emplace_back();
    for (uint16_t b : bits_) {
      int64_t both = 0;
      for (size_t w = 0; w < blocks; ++w) both += std::popcount(column[a][w] & column[b][w]);
      const double p = static_cast<double>(ones[a]) / n, q = static_cast<double>(ones[b]) / n;
      const double joint = static_cast<double>(both) / n - p * q;
      const double squared = joint * joint / (p * (1 - p) * q * (1 - q));
      row.push_back(static_cast<int32_t>(std::lround(1e6 * squared)));
    }
  }
}

// A round of one bit to each key at a time, so that undecided bits are spread; in
// a round each bit goes where it repeats least.
MihKeys KeyDealer::Deal(int tables, int length) const {
  const bool longest = length == std::min(kMostKeyBits, bits() / tables);
  const int count = longest ? std::min(bits(), tables * kMostKeyBits) : tables * length;
  std::vector<std::vector<int>> dealt(tables);
  for (int i = 0; i < count; ++i) {
    const auto round = static_cast<size_t>(i / tables);
    int best = -1;
    int64_t least = 0;
    for (int t = 0; t < tables; ++t) {
      if (dealt[t].size() > round) continue;
      int64_t repeated = 0;
      for (int j : dealt[t]) repeated += alike_[i][j];
      if (best < 0 || repeated < least) best = t, least = repeated;
    }
    dealt[best].push_back(i);
  }
  MihKeys keys(tables);
  for (int t = 0; t < tables; ++t) {
    for (int i : dealt[t]) keys[t].push_back(bits_[i]);
  }
  return keys;
}

}  // namespace crossilo

#include "crossilo/index/code_sample.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "crossilo/base/random.h"
#include "crossilo/codes/scan.h"

namespace crossilo {
namespace {

// Good and Turing: the next code is a new one with the probability of having
// been drawn once.
int64_t EstimateDistinct(const CodeSample& sample, const Table& table) {
  const std::vector<int64_t> order = sample.Sorted();
  const int64_t n = sample.size();
  int64_t distinct = 0, alone = 0;
  for (int64_t i = 0, end; i < n; i = end) {
    end = i + 1;
    while (end < n && std::ranges::equal(sample.Row(order[i]), sample.Row(order[end]))) ++end;
    ++distinct;
    alone += end == i + 1;
  }
  const double is_new = static_cast<double>(alone) / static_cast<double>(n);
  const auto unseen = static_cast<int64_t>(is_new * static_cast<double>(table.size - n));
  const int64_t most = table.bits < 32 ? int64_t{1} << table.bits : table.size;
  return std::min(distinct + unseen, most);
}

int EstimateNear(const CodeSample& sample, const Table& table) {
  const int64_t n = sample.size(), asking = std::min<int64_t>(16, n);
  // The tenth of all has a lower rank in a sample; the first at least says
  // that it is no farther.
  const int64_t rank = std::max<int64_t>(1, 10 * n / table.size);
  const auto rows = std::as_bytes(sample.rows());
  const size_t row_bytes = 8 * static_cast<size_t>(sample.words());
  std::vector<ScanHit> hits(n);
  std::vector<int> nearest;
  for (int64_t q = 0; q < asking; ++q) {
    std::vector<int64_t> at(table.bits + 1);
    const std::byte* query = rows.data() + q * n / asking * row_bytes;
    Scan(query, rows.data(), hits.size(), row_bytes, table.bits + 1, hits.data());
    for (const ScanHit& hit : hits) ++at[hit.distance];
    int64_t met = -1;  // not itself
    int r = 0;
    while (r < table.bits && (met += at[r]) < rank) ++r;
    nearest.push_back(r);
  }
  std::ranges::nth_element(nearest, nearest.begin() + asking / 2);
  return nearest[asking / 2];
}

}  // namespace

CodeSample::CodeSample(const Table& table, int64_t rows) {
  size_ = std::min(rows, table.size);
  const int64_t bytes = table.row_bytes();
  words_ = static_cast<int>((bytes + 7) / 8);
  data_.resize(static_cast<size_t>(size_ * words_));
  Random random(0, {static_cast<uint64_t>(table.size)}, "code sample");
  for (int64_t i = 0; i < size_; ++i) {
    // i * size < 2^20 * 2^32: no overflow.
    const int64_t first = i * table.size / size_, last = (i + 1) * table.size / size_;
    const int64_t slot = first + static_cast<int64_t>(random.Below(last - first));
    std::memcpy(&data_[static_cast<size_t>(i * words_)], table.rows + slot * bytes,
                static_cast<size_t>(bytes));
  }
}

std::vector<int64_t> CodeSample::Sorted() const {
  std::vector<int64_t> order(static_cast<size_t>(size_));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [this](int64_t a, int64_t b) {
    return std::ranges::lexicographical_compare(Row(a), Row(b));
  });
  return order;
}

CodeSample CodeSample::Distinct() const {
  CodeSample distinct;
  distinct.words_ = words_;
  for (int64_t i : Sorted()) {
    const auto row = Row(i);
    if (distinct.size_ > 0 && std::ranges::equal(row, distinct.Row(distinct.size_ - 1))) continue;
    distinct.data_.insert(distinct.data_.end(), row.begin(), row.end());
    ++distinct.size_;
  }
  return distinct;
}

CodeStatistics Look(const Table& table) {
  if (table.size == 0) return {};
  const CodeSample sample(table, 20000);
  return {.distinct = EstimateDistinct(sample, table), .near = EstimateNear(sample, table)};
}

bool Near(std::span<const uint64_t> a, std::span<const uint64_t> b, std::span<const uint64_t> mask,
          int most) {
  for (size_t w = 0; w < a.size() && most >= 0; ++w) {
    // Few are allowed, so this ends sooner than a popcount.
    for (uint64_t rest = (a[w] ^ b[w]) & mask[w]; rest != 0 && most >= 0; rest &= rest - 1) --most;
  }
  return most >= 0;
}

}  // namespace crossilo

// Every row is compared with every query in float32 first, which is fast and
// off by at most a known error; only rows that may be among the nearest in
// spite of it are compared again in double.  So the answers do not depend on
// the kernel, the blocks or the threads.
#include "crossilo/codes/cosine.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <mutex>

#include "crossilo/base/parallel.h"
#include "crossilo/codes/dot_products.h"
#include "crossilo/index/cosine_candidates.h"
#include "crossilo/index/index.h"

namespace crossilo {
namespace {

constexpr int64_t kBatch = 64;  // queries that pass over a block while it is in the cache
constexpr size_t kTile = 4;     // of them, compared at once
constexpr int64_t kBlockBytes = 1 << 16, kBlockRows = 512;
// Multiplications that are worth a thread: some tenths of a millisecond.
constexpr int64_t kThreadWork = 1 << 22;

class CosineIndex final : public Index {
 public:
  explicit CosineIndex(const Table& table)
      : table_(table), dims_(static_cast<size_t>(table.dims)), error_(DotProductError(dims_)) {
    assert(table.real_valued() && reinterpret_cast<uintptr_t>(table.rows) % alignof(float) == 0);
  }

  std::string_view kind() const override { return "cosine"; }

  std::vector<std::vector<SlotHit>> Search(std::span<const std::byte> bytes,
                                           const Policy& policy) const override {
    const int64_t count = CheckSearch(table_, bytes, policy);
    std::vector<float> queries(static_cast<size_t>(count) * dims_);
    if (count > 0) std::memcpy(queries.data(), bytes.data(), bytes.size());
    const std::vector<float> unit = UnitRows(queries, table_.dims);
    std::vector<std::vector<SlotHit>> hits(static_cast<size_t>(count));
    if (policy.k == 0 || table_.size == 0) return hits;
    std::call_once(measured_, [&] { Measure(policy.threads); });
    for (int64_t first = 0; first < count; first += kBatch) {
      const auto batch = static_cast<size_t>(std::min(kBatch, count - first));
      const size_t offset = static_cast<size_t>(first) * dims_;
      auto found = Scan(&unit[offset], &queries[offset], batch, policy);
      ForEach(static_cast<int64_t>(batch), Threads(1, policy), [&](int64_t q, int) {
        hits[first + q] = Rank(&queries[offset + q * dims_], found[q].Prune(), policy);
      });
    }
    return hits;
  }

 private:
  const float* Row(size_t slot) const {
    return reinterpret_cast<const float*>(table_.rows) + slot * dims_;
  }
  int64_t block() const {
    return std::clamp<int64_t>(kBlockBytes / table_.row_bytes(), 1, kBlockRows);
  }
  int64_t blocks() const { return (table_.size + block() - 1) / block(); }

  int Threads(int64_t queries, const Policy& policy) const {
    const double work = static_cast<double>(table_.size) * dims_ * queries / kThreadWork;
    return static_cast<int>(std::min<double>(Workers(policy.threads), 1 + work));
  }

  // 1 / length of every row, by the first search rather than when the index is
  // made: a mapped file opens without a pass over it, and later searches do not
  // pay for it again.
  void Measure(int threads) const {
    std::vector<float> scale(static_cast<size_t>(table_.size));
    ForEach(blocks(), Threads(1, {.threads = threads}), [&](int64_t b, int) {
      const int64_t end = std::min(table_.size, (b + 1) * block());
      for (int64_t slot = b * block(); slot < end; ++slot) {
        const double length = std::sqrt(SquaredLength(Row(slot), dims_));
        // Outside this range float32 may overflow, or round more than the error
        // says; NaN marks such rows, and those that are not finite.
        const bool safe = length > 1e-15 && length < 1e15;
        scale[slot] = safe ? static_cast<float>(1 / length) : length == 0 ? 0 : NAN;
      }
    });
    scale_ = std::move(scale);
  }

  std::vector<CosineCandidates> Scan(const float* unit, const float* queries, size_t batch,
                                     const Policy& policy) const {
    const int workers = Threads(static_cast<int64_t>(batch), policy);
    const int64_t k = std::min(policy.k, table_.size);
    std::vector<std::vector<CosineCandidates>> found(
        workers, std::vector<CosineCandidates>(batch, {k, policy.radius, error_}));
    ForEach(blocks(), workers, [&](int64_t b, int worker) {
      std::vector<uint32_t> picked;
      const int64_t end = std::min(table_.size, (b + 1) * block());
      for (int64_t slot = b * block(); slot < end; ++slot) {
        if (policy.only == nullptr || policy.only->Has(slot)) {
          picked.push_back(static_cast<uint32_t>(slot));
        }
      }
      for (size_t q = 0; q < batch; q += kTile) {
        ScanBlock(unit + q * dims_, queries + q * dims_, picked,
                  std::span(found[worker]).subspan(q, std::min(kTile, batch - q)));
      }
    });
    for (int w = 1; w < workers; ++w) {
      for (size_t q = 0; q < batch; ++q) found[0][q].Take(found[w][q]);
    }
    return std::move(found[0]);
  }

  void ScanBlock(const float* unit, const float* queries, std::span<const uint32_t> picked,
                 std::span<CosineCandidates> found) const {
    float products[kTile * kBlockRows];
    FastDotProducts(unit, found.size(), Row(0), picked, dims_, products);
    for (size_t q = 0; q < found.size(); ++q) {
      const float* product = products + q * picked.size();
      for (size_t i = 0; i < picked.size(); ++i) {
        float cosine = product[i] * scale_[picked[i]];
        if (cosine < found[q].limit()) continue;  // NaN is not
        if (std::isnan(cosine)) {
          cosine = static_cast<float>(Cosine(queries + q * dims_, Row(picked[i]), dims_));
          if (!(cosine >= found[q].limit())) continue;
        }
        found[q].Add(picked[i], cosine);
      }
    }
  }

  std::vector<SlotHit> Rank(const float* query, const std::vector<CosineCandidate>& candidates,
                            const Policy& policy) const {
    std::vector<SlotHit> hits;
    for (const CosineCandidate& c : candidates) {
      const float distance = CosineDistance(Cosine(query, Row(c.slot), dims_));
      if (distance <= policy.radius) hits.push_back({c.slot, distance});
    }
    const auto end = hits.begin() + std::min<int64_t>(policy.k, static_cast<int64_t>(hits.size()));
    std::partial_sort(hits.begin(), end, hits.end(),
                      [](const SlotHit& a, const SlotHit& b) { return Nearer(a, b); });
    hits.erase(end, hits.end());
    return hits;
  }

  const Table table_;
  const size_t dims_;
  const double error_;
  mutable std::once_flag measured_;
  mutable std::vector<float> scale_;
};

}  // namespace

std::unique_ptr<Index> MakeCosineIndex(const Table& table) {
  return std::make_unique<CosineIndex>(table);
}

}  // namespace crossilo

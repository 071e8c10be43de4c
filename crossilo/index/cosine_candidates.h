#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace crossilo {

struct CosineCandidate {
  uint32_t slot = 0;
  float cosine = 0;  // about
};

// The rows that may still be among a query's k nearest, when cosines are known
// only about.  A list that is thinned out now and then, not a heap: most rows
// fail the limit and touch nothing.
class CosineCandidates {
 public:
  // `error` is what a cosine may be off by.
  CosineCandidates(int64_t k, double radius, double error)
      : k_(static_cast<size_t>(k)),
        // Twice the error, as both of two rows may be off, and the roundings of
        // CosineDistance and of this very bound.
        margin_(2 * error + 0x1p-21),
        limit_(static_cast<float>(1 - radius - margin_)) {}

  // A row below it is out.
  float limit() const { return limit_; }

  void Add(uint32_t slot, float cosine) {
    kept_.push_back({slot, cosine});
    if (kept_.size() >= 2 * k_ + room_) {
      Prune();
      // Where many rows are equally near, they stay: prune less often.
      room_ = std::max(room_, kept_.size());
    }
  }

  void Take(CosineCandidates& other) {
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
    other.kept_.clear();
  }

  // Drops what the k-th best so far rules out, and returns what is left.
  const std::vector<CosineCandidate>& Prune() {
    if (kept_.size() > k_) {
      const auto kth = kept_.begin() + static_cast<int64_t>(k_) - 1;
      std::nth_element(
          kept_.begin(), kth, kept_.end(),
          [](const CosineCandidate& a, const CosineCandidate& b) { return a.cosine > b.cosine; });
      limit_ = std::max(limit_, static_cast<float>(kth->cosine - margin_));
      std::erase_if(kept_, [this](const CosineCandidate& c) { return c.cosine < limit_; });
    }
    return kept_;
  }

 private:
  size_t k_, room_ = 256;
  double margin_;
  float limit_;
  std::vector<CosineCandidate> kept_;
};

}  // namespace crossilo

#include <algorithm>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/codes/hamming.h"
#include "crossilo/index/index.h"

namespace crossilo {
namespace {

bool Nearer(const Hit& a, const Hit& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

class FlatIndex final : public Index {
 public:
  explicit FlatIndex(PackedCodes codes) : codes_(std::move(codes)) {}

  int64_t size() const override { return codes_.size(); }
  int bits() const override { return codes_.bits(); }

  std::vector<Hit> Search(std::span<const uint64_t> code, int64_t k) const override {
    const size_t words = codes_.words_per_code();
    if (code.size() != words) {
      throw Error("a code of {} words against an index of {} bits; encode it with the same model",
                  code.size(), bits());
    }
    if (k < 0) throw Error("{} hits asked for; ask for 0 or more", k);
    k = std::min(k, size());
    std::vector<Hit> best;  // a heap with the farthest at the front
    if (k == 0) return best;
    constexpr int64_t kBlock = 4096;  // distances that stay in the nearest cache
    uint16_t distances[kBlock];
    for (int64_t start = 0; start < size(); start += kBlock) {
      const int64_t count = std::min(kBlock, size() - start);
      HammingDistances(code.data(), codes_.words().data() + start * words, count, words, distances);
      for (int64_t i = 0; i < count; ++i) Offer({start + i, distances[i]}, k, best);
    }
    std::sort_heap(best.begin(), best.end(), Nearer);
    return best;
  }

 private:
  // Ids come in ascending order, so a hit as far as the farthest is no better.
  static void Offer(Hit hit, int64_t k, std::vector<Hit>& best) {
    if (static_cast<int64_t>(best.size()) == k) {
      if (hit.distance >= best.front().distance) return;
      std::pop_heap(best.begin(), best.end(), Nearer);
      best.pop_back();
    }
    best.push_back(hit);
    std::push_heap(best.begin(), best.end(), Nearer);
  }

  PackedCodes codes_;
};

}  // namespace

std::unique_ptr<Index> MakeFlatIndex(PackedCodes codes) {
  return std::make_unique<FlatIndex>(std::move(codes));
}

}  // namespace crossilo

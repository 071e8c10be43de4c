#include "crossilo/index/hits.h"

#include <algorithm>

#include "crossilo/base/digest.h"

namespace crossilo {

std::vector<SiloHit> MergeHits(const std::vector<SiloHits>& answers, int64_t k) {
  std::vector<SiloHit> all;
  for (const SiloHits& answer : answers) {
    for (const Hit& hit : answer.hits) all.push_back({hit.distance, answer.silo, hit.id});
  }
  const auto end = all.begin() + std::clamp<int64_t>(k, 0, static_cast<int64_t>(all.size()));
  std::partial_sort(all.begin(), end, all.end());
  all.erase(end, all.end());
  return all;
}

int64_t IdOf(const std::string& name) {
  const bool digits =
      !name.empty() && name.size() <= 18 &&
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && (name.size() == 1 || name[0] != '0')) return std::stoll(name);
  const uint64_t hash = std::stoull(Sha256(name).substr(0, 16), nullptr, 16);
  return static_cast<int64_t>((uint64_t{1} << 62) + hash % (uint64_t{1} << 62));
}

}  // namespace crossilo

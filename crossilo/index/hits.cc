#include "crossilo/index/hits.h"

#include <algorithm>
#include <charconv>

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

std::optional<int64_t> WrittenId(const std::string& name) {
  int64_t id = 0;
  const char* end = name.data() + name.size();
  const auto [after, wrong] = std::from_chars(name.data(), end, id);
  if (wrong != std::errc{} || after != end || name[0] == '-') return {};
  if (name[0] == '0' && name.size() > 1) return {};
  return id;
}

int64_t IdOf(const std::string& name) {
  const std::optional<int64_t> number = WrittenId(name);
  if (number && name.size() <= 18) return *number;
  const uint64_t hash = std::stoull(Sha256(name).substr(0, 16), nullptr, 16);
  return static_cast<int64_t>((uint64_t{1} << 62) + hash % (uint64_t{1} << 62));
}

}  // namespace crossilo

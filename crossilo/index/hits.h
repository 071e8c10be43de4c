#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crossilo {

// One answer of one collection.
struct Hit {
  int64_t id = 0;
  float distance = 0;  // bits that differ, or 1 - cosine

  bool operator==(const Hit&) const = default;
};

// Nearest first, equally near ones by id.
inline bool Nearer(const Hit& a, const Hit& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

// What a silo answered, in that order.
struct SiloHits {
  std::string silo;
  std::vector<Hit> hits;
};

struct SiloHit {
  float distance = 0;
  std::string silo;
  int64_t id = 0;

  auto operator<=>(const SiloHit&) const = default;
};

// The k first answers of several silos by distance, then silo, then id: an
// order that does not depend on who answered first, so answers can be merged
// again with others'.
std::vector<SiloHit> MergeHits(const std::vector<SiloHits>& answers, int64_t k);

// The number that stands for an item's name: a decimal number of up to 18
// digits, written without leading zeros, is itself; any other name is 2^62 +
// its hash modulo 2^62, the same on every machine, so that silos need not
// agree on numbers.
int64_t IdOf(const std::string& name);

// The id that a name is when items are named by their ids alone, which may have
// 19 digits: nothing where it is no such number.
std::optional<int64_t> WrittenId(const std::string& name);

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <string>

#include "crossilo/index/index.h"
#include "crossilo/index/mih_keys.h"

namespace crossilo {

struct MihPlan {
  MihKeys keys;          // a single empty one: no lookups
  double lookup_ns = 0;  // expected time of a query; infinite without lookups
};

// The keys with the least expected time for queries within a radius that resemble
// these codes, from a sample of them; the same for the same codes.  `distinct` is
// how many there are, equal ones counted once.
MihPlan PlanMih(const Table& table, int64_t distinct, int radius);

// The radius that tables are planned for: a tenth of the bits, or what it takes
// to find ten codes, but no more than a quarter, where lookups are hopeless.
int PlannedRadius(const Table& table, int near);

// BuildMih with keys of one's own.
std::string BuildMih(const Table& table, const MihKeys& keys, int threads);

// Keys of w bits that differ from a given one in exactly a bits.
double KeysAt(int w, int a);

}  // namespace crossilo

// Learnt codes crowd around a few places, so how many keys of which length pay is
// asked of pairs of them rather than of a formula for random ones.
#include "crossilo/index/mih_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "crossilo/index/code_sample.h"
#include "crossilo/index/costs.h"
#include "crossilo/index/mih_keys.h"
#include "crossilo/index/mih_tables.h"

namespace crossilo {
namespace {

constexpr int64_t kAsking = 16, kAsked = 2048;
// Below this lookups cannot beat a scan by much.
constexpr int64_t kFewCodes = 4096;

// The share of codes that differ from a query in at most `within` bits of a key.
double Share(const CodeSample& queries, const CodeSample& codes, const std::vector<uint16_t>& key,
             int within) {
  std::vector<uint64_t> mask(codes.words());
  for (uint16_t b : key) mask[b / 64] |= uint64_t{1} << b % 64;
  const int64_t asking = std::min(kAsking, queries.size());
  int64_t met = 0;
  for (int64_t q = 0; q < asking; ++q) {
    const auto query = queries.Row(q * queries.size() / asking);
    for (int64_t i = 0; i < codes.size(); ++i) met += Near(query, codes.Row(i), mask, within);
  }
  // Each met its own code, which says nothing about others.
  return static_cast<double>(met - asking + 1) /
         static_cast<double>(asking * std::max<int64_t>(1, codes.size() - 1));
}

// Expected time of all lookups within a radius, or something above `most`.  Of a
// radius r = m a + b the keys 0..b are searched within a bits and the others
// within a - 1: a code that differs more in every key differs in more than r.
double LookupNs(const CodeSample& queries, const CodeSample& codes, const MihKeys& keys,
                double all_ns, int radius, double most) {
  const auto m = static_cast<int>(keys.size());
  double total = 0;
  for (int k = 0; k < m && k <= radius; ++k) {
    for (int a = 0; a <= (radius - k) / m; ++a) {
      total += KeysAt(static_cast<int>(keys[k].size()), a) * kBucketNs;
    }
  }
  for (int k = 0; k < m && k <= radius && total < most; ++k) {
    total += Share(queries, codes, keys[k], (radius - k) / m) * all_ns;
  }
  return total;
}

// Lengths of keys worth a try: up to so many bits that most buckets are empty.
std::set<int> Lengths(int64_t distinct, int varying, int tables) {
  std::set<int> lengths;
  const int log = std::bit_width(static_cast<uint64_t>(distinct));
  for (int length : {log - 10, log - 7, log - 4, log - 1, log + 1}) {
    lengths.insert(std::clamp(length, 1, std::min(kMostKeyBits, std::max(1, varying / tables))));
  }
  return lengths;
}

}  // namespace

double KeysAt(int w, int a) {
  double keys = 1;
  for (int i = 0; i < a; ++i) keys *= static_cast<double>(w - i) / (i + 1);
  return keys;
}

int PlannedRadius(const Table& table, int near) {
  return std::max({1, table.bits / 10, std::min(near, table.bits / 4)});
}

MihPlan PlanMih(const Table& table, int64_t distinct, int radius) {
  const double all_ns = CandidatesNs(distinct, table.row_bytes());
  // Tables have to be worth their memory.
  const double scan_ns = ScanNs(distinct, table.row_bytes(), {});
  MihPlan best{.keys = {{}}, .lookup_ns = scan_ns / 2};
  if (distinct > kFewCodes) {
    const KeyDealer dealer(table);
    const CodeSample queries(table, kAsked), codes = queries.Distinct();
    const int bits = dealer.bits();
    for (int tables = 1; tables <= std::min(kMostMihTables, bits); ++tables) {
      for (int length : Lengths(distinct, bits, tables)) {
        const MihKeys keys = dealer.Deal(tables, length);
        const double time = LookupNs(queries, codes, keys, all_ns, radius, best.lookup_ns);
        if (time < best.lookup_ns) best = {.keys = keys, .lookup_ns = time};
      }
    }
  }
  if (best.keys[0].empty()) best.lookup_ns = std::numeric_limits<double>::infinity();
  return best;
}

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/index/costs.h"
#include "crossilo/index/index.h"
#include "crossilo/index/mih_tables.h"

namespace crossilo {

// What MakeMihIndex returns, to those who weigh it against a scan.
class MihIndex : public Index {
 public:
  using Answers = std::vector<std::vector<SlotHit>>;

  virtual const MihTables& tables() const = 0;

  // What its costs depend on; about, where that would take long to know.
  virtual SearchShape Shape(int64_t queries, const Policy& policy) const = 0;
  // Answers those queries that lookups answer sooner than a scan would that
  // takes `scan_ns` nanoseconds a query; the numbers of the others, ascending.
  // Queries and policy have been checked.
  virtual std::vector<int64_t> LookUp(std::span<const std::byte> queries, const Policy& policy,
                                      double scan_ns, Answers& answers) const = 0;
  // Answers the queries of these numbers by comparing every distinct code.
  virtual void Compare(std::span<const std::byte> queries, std::span<const int64_t> which,
                       const Policy& policy, Answers& answers) const = 0;
};

}  // namespace crossilo

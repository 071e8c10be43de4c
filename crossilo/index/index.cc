#include "crossilo/index/index.h"

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/codes/code_rows.h"

namespace crossilo {

int64_t Table::row_bytes() const { return real_valued() ? int64_t{4} * dims : RowBytes(bits); }

namespace {

void CheckBits(const Table& table, std::span<const std::byte> query) {
  for (size_t i = table.bits / 8; i < query.size(); ++i) {
    const int used = i == static_cast<size_t>(table.bits / 8) ? table.bits % 8 : 0;
    if (query[i] >> used != std::byte{0}) {
      throw Error("a query with bits above the {} of a code; code it with the same model",
                  table.bits);
    }
  }
}

}  // namespace

int64_t CheckSearch(const Table& table, std::span<const std::byte> queries, const Policy& policy) {
  const auto row = static_cast<size_t>(table.row_bytes());
  if (queries.size() % row != 0) {
    throw Error("a query of {} bytes against rows of {}; code it with the same model",
                queries.size(), row);
  }
  if (policy.k < 0) throw Error("{} hits asked for; ask for 0 or more", policy.k);
  if (std::isnan(policy.radius)) throw Error("a radius that is no number; give one or none");
  if (policy.only != nullptr && policy.only->size() != table.size) {
    throw Error("a filter over {} items against an index of {}", policy.only->size(), table.size);
  }
  if (!table.real_valued()) {
    for (size_t at = 0; at < queries.size(); at += row) CheckBits(table, queries.subspan(at, row));
  }
  return static_cast<int64_t>(queries.size() / row);
}

}  // namespace crossilo

#include "crossilo/data/partition.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/base/nearest.h"
#include "crossilo/base/random.h"
#include "crossilo/data/classes.h"
#include "crossilo/data/dealing.h"

namespace crossilo {
namespace {

Partition DealColumn(const Dataset& dataset, const Rows& rows, const PartitionOptions& options) {
  if (options.column.empty() || !dataset.items.Has(options.column)) {
    throw Error("partition.column: the dataset has no column '{}' in its items{}", options.column,
                Suggestion(options.column, dataset.items.columns));
  }
  Partition partition;
  for (int64_t row : rows) {
    const std::string value(dataset.items.Cell(row, options.column));
    if (value.empty()) {
      throw Error(
          "partition.column: sample {} has no '{}', so no silo can have it; fill the column or"
          " leave the sample out of the training split",
          row, options.column);
    }
    const auto found = std::find(partition.names.begin(), partition.names.end(), value);
    const size_t silo = found - partition.names.begin();
    if (found == partition.names.end()) {
      partition.names.push_back(value);
      partition.training.emplace_back();
    }
    partition.training[silo].push_back(row);
  }
  return partition;
}

// Sizes differ by one at most, the first silos being the larger ones.
std::vector<Rows> DealIid(Rows rows, int64_t count, uint64_t seed) {
  Random random(seed, {}, "partition.iid");
  random.Shuffle(rows);
  std::vector<Rows> silos(count);
  const int64_t n = static_cast<int64_t>(rows.size());
  auto next = rows.begin();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = n / count + (i < n % count ? 1 : 0);
    silos[i].assign(next, next + size);
    next += size;
  }
  return silos;
}

std::vector<Rows> DealByClass(const Dataset& dataset, const Rows& rows,
                              const PartitionOptions& options, uint64_t seed) {
  const Classes classes(dataset, rows, options, seed);
  const std::vector<int> class_of = classes.Of(rows);
  ClassRows of_class(classes.count());
  for (size_t i = 0; i < rows.size(); ++i) of_class[class_of[i]].push_back(rows[i]);
  if (options.kind == "dirichlet") return DealDirichlet(of_class, options, seed);
  if (options.kind == "noniid-equal") return DealNoniidEqual(of_class, options, seed);
  return DealNoniidUnequal(of_class, options, seed);
}

// `rows` ascending.
Partition DealOnce(const Dataset& dataset, const Rows& rows, const PartitionOptions& options,
                   uint64_t seed) {
  const std::vector<std::string> kinds = {"pooled",    "iid",          "column",
                                          "dirichlet", "noniid-equal", "noniid-unequal"};
  if (std::find(kinds.begin(), kinds.end(), options.kind) == kinds.end()) {
    throw Error("partition.kind is '{}', which is not known{}", options.kind,
                Suggestion(options.kind, kinds));
  }
  if (options.kind == "pooled") return {{"pooled"}, {rows}};
  if (options.kind == "column") return DealColumn(dataset, rows, options);
  if (options.silos < 1 || options.silos > static_cast<int64_t>(rows.size())) {
    throw Error("partition.silos must be from 1 to the {} training samples there are, not {}",
                rows.size(), options.silos);
  }
  Partition partition;
  partition.training = options.kind == "iid" ? DealIid(rows, options.silos, seed)
                                             : DealByClass(dataset, rows, options, seed);
  for (size_t i = 0; i < partition.training.size(); ++i) {
    partition.names.push_back(std::to_string(i + 1));
  }
  return partition;
}

void Settle(Partition& partition) {
  for (size_t i = 0; i < partition.training.size(); ++i) {
    if (partition.training[i].empty()) {
      throw Error(
          "partition: silo '{}' got no samples; ask for fewer silos, a larger beta, a minimum of 1"
          " or another seed",
          partition.names[i]);
    }
    std::sort(partition.training[i].begin(), partition.training[i].end());
  }
}

Partition DealRows(const Dataset& dataset, const Rows& rows, const PartitionOptions& options,
                   uint64_t seed) {
  Partition outer = DealOnce(dataset, rows, options, seed);
  Settle(outer);
  if (!options.within) return outer;
  Partition partition;
  for (size_t i = 0; i < outer.training.size(); ++i) {
    const uint64_t inner_seed = Random(seed, {i}, "partition.within").Bits();
    try {
      Partition inner = DealRows(dataset, outer.training[i], *options.within, inner_seed);
      for (size_t j = 0; j < inner.training.size(); ++j) {
        partition.names.push_back(outer.names[i] + "/" + inner.names[j]);
        partition.training.push_back(std::move(inner.training[j]));
      }
    } catch (const Error& error) {
      throw Error("within silo '{}': {}", outer.names[i], error.what());
    }
  }
  return partition;
}

Rows RowsOf(const Dataset& dataset, const std::string& split) {
  Rows rows = dataset.Split(split);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  if (rows.empty()) {
    throw Error("{}: the {} split is empty; give it samples", dataset.name, split);
  }
  return rows;
}

}  // namespace

Partition Deal(const Dataset& dataset, const PartitionOptions& options, uint64_t seed) {
  return DealRows(dataset, RowsOf(dataset, "training"), options, seed);
}

std::vector<Rows> DealAnew(const Dataset& dataset, PartitionOptions options,
                           const std::string& split, uint64_t seed) {
  options.minimum = 1;  // fewer rows than training has must do
  const uint64_t anew = Random(seed, {}, "partition.anew." + split).Bits();
  return DealRows(dataset, RowsOf(dataset, split), options, anew).training;
}

}  // namespace crossilo

#include <algorithm>
#include <map>

#include "crossilo/base/random.h"
#include "crossilo/data/classes.h"
#include "crossilo/data/partition.h"

namespace crossilo {
namespace {

using Silos = std::vector<size_t>;

// The silos that share a row's values in every column the partition went by,
// or the silos found so far where no silo has such a value.
class Owners {
 public:
  Owners(const Dataset& dataset, const Partition& partition, const PartitionOptions& options)
      : items_(dataset.items) {
    for (const PartitionOptions* o = &options; o != nullptr; o = o->within.get()) {
      if (o->kind == "column") columns_.push_back(o->column);
    }
    for (size_t i = 0; i < partition.training.size(); ++i) {
      everyone_.push_back(i);
      firsts_.push_back(partition.training[i].front());
    }
  }

  Silos Of(int64_t row) const {
    Silos silos = everyone_;
    for (const std::string& column : columns_) {
      Silos same;
      for (size_t i : silos) {
        if (items_.Cell(firsts_[i], column) == items_.Cell(row, column)) same.push_back(i);
      }
      if (!same.empty()) silos = same;
    }
    return silos;
  }

 private:
  const Items& items_;
  std::vector<std::string> columns_;
  Silos everyone_;
  Rows firsts_;  // a training row of each silo; all of a silo's share its values
};

// How many rows of each class (-1: no class) each silo trains on.
struct Held {
  std::vector<std::map<int, int64_t>> by_class;
  std::vector<int64_t> total;

  // The silos' weights for a class; their sizes where none of them holds any.
  std::vector<double> Weights(const Silos& silos, int c) const {
    std::vector<double> weights;
    double sum = 0;
    for (size_t i : silos) {
      const auto found = by_class[i].find(c);
      const bool holds = c >= 0 && found != by_class[i].end();
      weights.push_back(holds ? static_cast<double>(found->second) : 0);
      sum += weights.back();
    }
    if (sum > 0) return weights;
    for (size_t i = 0; i < silos.size(); ++i) weights[i] = static_cast<double>(total[silos[i]]);
    return weights;
  }
};

// Row i of m goes where (i + u) / m falls in the cumulated shares, with one
// random u in [0, 1): a silo gets its exact quota rounded up or down, and on
// average over classes just its quota.
void DealByWeight(Rows rows, const Silos& silos, const std::vector<double>& weights, Random& random,
                  std::vector<Rows>& out) {
  random.Shuffle(rows);
  double sum = 0;
  for (double w : weights) sum += w;
  const double offset = random.Uniform();
  double cumulated = weights[0];
  size_t k = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double at = (static_cast<double>(i) + offset) / static_cast<double>(rows.size()) * sum;
    while (at >= cumulated && k + 1 < silos.size()) cumulated += weights[++k];
    out[silos[k]].push_back(rows[i]);
  }
}

}  // namespace

std::vector<Rows> DealLike(const Dataset& dataset, const Partition& partition,
                           const PartitionOptions& options, const std::string& split,
                           uint64_t seed) {
  // Classes mean what they meant in the last dealing.
  const PartitionOptions* innermost = &options;
  while (innermost->within) innermost = innermost->within.get();

  Rows training;
  std::map<int64_t, size_t> home;
  for (size_t i = 0; i < partition.training.size(); ++i) {
    for (int64_t row : partition.training[i]) {
      training.push_back(row);
      home[row] = i;
    }
  }
  const Classes classes(dataset, training, *innermost, seed);
  Held held{std::vector<std::map<int, int64_t>>(partition.training.size()), {}};
  for (size_t i = 0; i < partition.training.size(); ++i) {
    held.total.push_back(static_cast<int64_t>(partition.training[i].size()));
    for (int c : classes.Of(partition.training[i])) ++held.by_class[i][c];
  }

  std::vector<Rows> out(partition.training.size());
  const Rows& rows = dataset.Split(split);
  const std::vector<int> class_of = classes.Of(rows);
  const Owners owners(dataset, partition, options);
  std::map<std::pair<Silos, int>, Rows> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found = home.find(rows[i]);
    if (found != home.end()) {
      out[found->second].push_back(rows[i]);
    } else {
      groups[{owners.Of(rows[i]), class_of[i]}].push_back(rows[i]);
    }
  }
  Random random(seed, {}, "partition.like." + split);
  for (const auto& [who, group] : groups) {
    DealByWeight(group, who.first, held.Weights(who.first, who.second), random, out);
  }
  for (Rows& silo : out) std::sort(silo.begin(), silo.end());
  return out;
}

}  // namespace crossilo

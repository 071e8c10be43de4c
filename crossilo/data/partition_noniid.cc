#include <algorithm>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/data/dealing.h"

// The two uneven dealings of PLFedCMH, read from its code.

namespace crossilo {
namespace {

// The code looks at C * floor(n / C) rows only, C the classes that occur.
ClassRows WholeMultiple(ClassRows of_class) {
  std::erase_if(of_class, [](const Rows& rows) { return rows.empty(); });
  Rows all;
  for (const Rows& rows : of_class) all.insert(all.end(), rows.begin(), rows.end());
  const size_t kept = all.size() / of_class.size() * of_class.size();
  if (kept == all.size()) return of_class;
  std::nth_element(all.begin(), all.begin() + kept, all.end());
  const int64_t end = all[kept];
  for (Rows& rows : of_class) std::erase_if(rows, [&](int64_t row) { return row >= end; });
  return of_class;
}

// Each silo's number of shards, at least 1 and `shards` in all: draws of
// U{1..most}, scaled and rounded; what rounding left over goes to the smallest
// silo, what it overspent is taken from the largest.
std::vector<int64_t> ShardCounts(int64_t silos, int64_t shards, int64_t most, Random& random) {
  std::vector<double> draw(silos);
  double sum = 0;
  for (double& x : draw) sum += x = 1 + static_cast<double>(random.Below(most));
  std::vector<int64_t> count(silos);
  int64_t left = shards;
  for (int64_t i = 0; i < silos; ++i) {
    const double exact = draw[i] / sum * static_cast<double>(shards);
    count[i] = std::max<int64_t>(1, static_cast<int64_t>(std::llround(exact)));
    left -= count[i];
  }
  for (; left > 0; --left) ++*std::min_element(count.begin(), count.end());
  for (; left < 0; ++left) --*std::max_element(count.begin(), count.end());
  return count;
}

}  // namespace

std::vector<Rows> DealNoniidEqual(const ClassRows& all, const PartitionOptions& options,
                                  uint64_t seed) {
  if (options.shots < 1 || options.ways < 1 || options.ways_spread < 0) {
    throw Error("partition: shots {}, ways {} and ways_spread {} must be at least 1, 1 and 0",
                options.shots, options.ways, options.ways_spread);
  }
  Random random(seed, {}, "partition.noniid-equal");
  const ClassRows of_class = WholeMultiple(all);
  const int64_t classes = static_cast<int64_t>(of_class.size());
  const int64_t fewest = std::clamp<int64_t>(options.ways - options.ways_spread, 1, classes);
  const int64_t widest = std::clamp<int64_t>(options.ways + options.ways_spread, 1, classes);
  std::vector<int64_t> used(classes);  // rows of each class that are set aside already
  std::vector<Rows> silos(options.silos);
  for (size_t silo = 0; silo < silos.size(); ++silo) {
    std::vector<int64_t> candidates;
    for (int64_t c = 0; c < classes; ++c) {
      const int64_t left = static_cast<int64_t>(of_class[c].size()) - used[c];
      if (left >= options.shots) candidates.push_back(c);
    }
    if (candidates.empty()) {
      throw Error(
          "partition: no class has {} samples left for silo {} of {}; ask for fewer silos, ways or"
          " shots",
          options.shots, silo + 1, options.silos);
    }
    random.Shuffle(candidates);
    const auto ways = static_cast<size_t>(fewest + random.Below(widest - fewest + 1));
    if (candidates.size() > ways) candidates.resize(ways);
    const int64_t shots = std::max<int64_t>(1, options.shots - random.Below(2));
    for (int64_t c : candidates) {
      const auto begin = of_class[c].begin() + used[c];
      silos[silo].insert(silos[silo].end(), begin, begin + shots);
      used[c] += options.shots;
    }
  }
  return silos;
}

std::vector<Rows> DealNoniidUnequal(const ClassRows& of_class, const PartitionOptions& options,
                                    uint64_t seed) {
  if (options.shard < 1 || options.shards_most < 1) {
    throw Error("partition: shard {} and shards_most {} must be at least 1", options.shard,
                options.shards_most);
  }
  Random random(seed, {}, "partition.noniid-unequal");
  Rows sorted;  // by class
  for (const Rows& rows : of_class) sorted.insert(sorted.end(), rows.begin(), rows.end());
  // Rows after the last whole shard are left out, as in the code.
  const int64_t shards = static_cast<int64_t>(sorted.size()) / options.shard;
  if (shards < options.silos) {
    throw Error(
        "partition.shard: {} samples make {} shards of {}, too few for {} silos; ask for smaller"
        " shards or fewer silos",
        sorted.size(), shards, options.shard, options.silos);
  }
  const auto counts = ShardCounts(options.silos, shards, options.shards_most, random);
  const std::vector<int64_t> order = random.Permutation(shards);
  std::vector<Rows> silos(options.silos);
  auto next = order.begin();
  for (size_t silo = 0; silo < silos.size(); ++silo) {
    for (int64_t i = 0; i < counts[silo]; ++i, ++next) {
      const auto begin = sorted.begin() + *next * options.shard;
      silos[silo].insert(silos[silo].end(), begin, begin + options.shard);
    }
  }
  return silos;
}

}  // namespace crossilo

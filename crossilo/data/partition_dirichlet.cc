#include <algorithm>
#include <numeric>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/data/dealing.h"

// Label skew by a Dirichlet draw a class, as in NIID-Bench (Li et al., ICDE
// 2022), MOON and FedX: with the cap and a minimum.  capped = false is the
// variant of PT-FUCH, FedWGAN and FedUCH.

namespace crossilo {
namespace {

constexpr int kDraws = 1000;

// The silos' shares of one class.  With the cap, a silo that holds its equal
// share of all samples gets none of it.
std::vector<double> Shares(const std::vector<Rows>& silos, int64_t total,
                           const PartitionOptions& options, Random& random) {
  const int64_t k = static_cast<int64_t>(silos.size());
  std::vector<double> share = random.Dirichlet(options.beta, static_cast<int>(k));
  if (!options.capped) return share;
  const auto open = [&](size_t i) { return static_cast<int64_t>(silos[i].size()) * k < total; };
  for (size_t i = 0; i < share.size(); ++i) {
    if (!open(i)) share[i] = 0;
  }
  double sum = std::accumulate(share.begin(), share.end(), 0.0);
  if (sum <= 0) {
    // All the mass fell on full silos.  One is open: if none were, all samples
    // would be dealt already.
    for (size_t i = 0; i < share.size(); ++i) share[i] = open(i) ? 1 : 0;
    sum = std::accumulate(share.begin(), share.end(), 0.0);
  }
  for (double& x : share) x /= sum;
  return share;
}

std::vector<Rows> Draw(const ClassRows& of_class, int64_t total, const PartitionOptions& options,
                       Random random) {
  std::vector<Rows> silos(options.silos);
  for (Rows rows : of_class) {
    if (rows.empty()) continue;
    random.Shuffle(rows);
    const std::vector<double> share = Shares(silos, total, options, random);
    // Cut the class at floor(cumsum(share) * size); the last silo takes the rest.
    const int64_t size = static_cast<int64_t>(rows.size());
    double sum = 0;
    int64_t from = 0;
    for (size_t i = 0; i < silos.size(); ++i) {
      sum += share[i];
      const bool last = i + 1 == silos.size();
      const int64_t cut = static_cast<int64_t>(sum * static_cast<double>(size));
      const int64_t to = last ? size : std::clamp(cut, from, size);
      silos[i].insert(silos[i].end(), rows.begin() + from, rows.begin() + to);
      from = to;
    }
  }
  return silos;
}

}  // namespace

std::vector<Rows> DealDirichlet(const ClassRows& of_class, const PartitionOptions& options,
                                uint64_t seed) {
  if (!(options.beta > 0)) {
    throw Error("partition.beta must be more than 0, not {}; 0.5 is usual", options.beta);
  }
  int64_t total = 0;
  for (const Rows& rows : of_class) total += static_cast<int64_t>(rows.size());
  if (options.minimum > total / options.silos) {
    throw Error(
        "partition.minimum: {} silos of at least {} need more than the {} samples there are; ask"
        " for fewer silos or a smaller minimum",
        options.silos, options.minimum, total);
  }
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    std::vector<Rows> silos =
        Draw(of_class, total, options, Random(seed, {draw}, "partition.dirichlet"));
    const auto least = std::min_element(silos.begin(), silos.end(),
                                        [](auto& a, auto& b) { return a.size() < b.size(); });
    if (static_cast<int64_t>(least->size()) >= options.minimum) return silos;
  }
  throw Error(
      "partition: none of {} Dirichlet draws over {} silos with beta {} gave every silo {} samples;"
      " ask for fewer silos, a larger beta or a smaller minimum",
      kDraws, options.silos, options.beta, options.minimum);
}

}  // namespace crossilo

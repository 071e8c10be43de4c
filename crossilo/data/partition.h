#pragma once

#include <memory>
#include <string>
#include <vector>

#include "crossilo/base/config.h"
#include "crossilo/data/dataset.h"

namespace crossilo {

// Who holds which samples.
struct Partition {
  std::vector<std::string> names;  // one a silo, such as "google/2"
  std::vector<Rows> training;      // one a silo; sorted; no row is in two silos

  int silos() const { return static_cast<int>(names.size()); }
};

struct PartitionOptions {
  // pooled, iid, column, dirichlet, noniid-equal, noniid-unequal
  std::string kind = "iid";
  int64_t silos = 10;
  double beta = 0.5;          // dirichlet: concentration, > 0
  int64_t minimum = 10;       // dirichlet: fewest samples a silo may get; redrawn until it holds
  bool capped = true;         // dirichlet: no more of a class to a silo that holds n/silos already
  std::string column;         // column: which column of items.tsv
  std::string labels;         // the label level that classes are taken from
  int64_t pseudo_labels = 0;  // > 0: that many k-means clusters of the images instead of labels
  int64_t ways = 15, ways_spread = 2, shots = 20;      // noniid-equal
  int64_t shard = 20, shards_most = 30;                // noniid-unequal
  std::shared_ptr<PartitionOptions> within = nullptr;  // how each silo is dealt again, or null

  static PartitionOptions From(const Config& table);
};

// Deals the training split.  Throws Error where the options cannot hold: a
// beta that is not positive, more silos than samples, no such column.
Partition Deal(const Dataset& dataset, const PartitionOptions& options, uint64_t seed);

// Deals another split so that it matches: a row that a silo trains on stays
// there; every other row of class c goes to the silos in proportion to the
// rows of class c they train on (by column value first, where a column made
// the partition).  One Rows a silo; some may be empty.
std::vector<Rows> DealLike(const Dataset& dataset, const Partition& partition,
                           const PartitionOptions& options, const std::string& split,
                           uint64_t seed);

// Deals another split by a draw of its own, so that what a silo is asked has
// nothing to do with what it trained on.  One Rows a silo.
std::vector<Rows> DealAnew(const Dataset& dataset, PartitionOptions options,
                           const std::string& split, uint64_t seed);

// The class of every sample, one each: the label where a sample has just one,
// else (or with pseudo_labels > 0) k-means clusters of the image features.
std::vector<int> ClassOf(const Dataset& dataset, const Rows& rows, const PartitionOptions& options,
                         uint64_t seed);

}  // namespace crossilo

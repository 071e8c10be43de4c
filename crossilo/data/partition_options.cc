#include "crossilo/data/partition.h"

namespace crossilo {
namespace {

constexpr int64_t kMost = 1'000'000'000;  // keeps sums of settings far from overflow

void ReadDirichlet(const Config& table, PartitionOptions& options) {
  options.beta = table.Real("beta", options.beta,
                            "dirichlet: concentration, more than 0; small gives a silo few classes,"
                            " large gives every silo the same mix",
                            1e-6, 1e6);
  options.minimum = table.Int("minimum", options.minimum,
                              "dirichlet: fewest samples a silo may get; redrawn until it holds, 0"
                              " takes the first draw",
                              0, kMost);
  options.capped = table.Flag("capped", options.capped,
                              "dirichlet: no more of the next class for a silo that holds its equal"
                              " share of all samples already");
}

void ReadNoniid(const Config& table, PartitionOptions& options) {
  options.ways =
      table.Int("ways", options.ways, "noniid-equal: classes a silo holds, on average", 1, kMost);
  options.ways_spread = table.Int(
      "ways_spread", options.ways_spread,
      "noniid-equal: a silo holds between ways - ways_spread and ways + ways_spread", 0, kMost);
  options.shots = table.Int("shots", options.shots,
                            "noniid-equal: samples set aside for a silo of each of its classes; it"
                            " gets all of them or one less",
                            1, kMost);
  options.shard =
      table.Int("shard", options.shard,
                "noniid-unequal: samples in a shard of the samples sorted by class", 1, kMost);
  options.shards_most = table.Int("shards_most", options.shards_most,
                                  "noniid-unequal: a silo's share of the shards is drawn from 1 to"
                                  " this many",
                                  1, kMost);
}

}  // namespace

PartitionOptions PartitionOptions::From(const Config& table) {
  PartitionOptions options;
  options.kind = table.Choice(
      "kind", options.kind,
      {"pooled", "iid", "column", "dirichlet", "noniid-equal", "noniid-unequal"},
      "who holds which training samples: pooled, iid, column, dirichlet, noniid-equal or"
      " noniid-unequal");
  options.silos = table.Int("silos", options.silos,
                            "how many silos; pooled has one, column as many as values", 1, 1000000);
  options.column = table.Text("column", options.column,
                              "column: one silo for every value of this column of items.tsv");
  options.labels = table.Text("labels", options.labels,
                              "the label level classes are taken from; empty for the main one");
  options.pseudo_labels =
      table.Int("pseudo_labels", options.pseudo_labels,
                "more than 0: classes are this many k-means clusters of the images; 0: the labels,"
                " or as many clusters as silos where a sample has not exactly one",
                0, kMost);
  ReadDirichlet(table, options);
  ReadNoniid(table, options);
  if (table.Has("within")) {
    options.within = std::make_shared<PartitionOptions>(From(table.Table("within")));
  }
  return options;
}

}  // namespace crossilo

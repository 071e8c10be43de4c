#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crossilo/data/dataset.h"
#include "crossilo/data/partition.h"

namespace crossilo {

// What there is to know about a dataset at a glance, and who holds how much of
// which class.
struct Description {
  std::string name, licence, source;
  int64_t samples = 0, image_dims = 0, text_dims = 0;
  std::string image_type, text_type;      // "float16"
  std::map<std::string, int64_t> splits;  // how many rows each
  std::map<std::string, int64_t> levels;  // how many classes each
  std::string level;                      // the one counted below
  double labels_per_sample = 0;

  std::string row_word;                      // "silo", or "split" without a partition
  std::vector<std::string> rows;             // names of silos or splits
  std::vector<int64_t> totals;               // samples of each row
  std::vector<std::string> classes;          // names, or numbers from 1; empty without labels
  std::vector<std::vector<int64_t>> counts;  // row x class; a sample counts for each of its labels
  std::vector<int64_t> present;              // classes with at least one sample, of each row
  // Mean over the silos of the total-variation distance between a silo's class
  // mix and that of all silos together: 0 when all mixes are equal, towards 1
  // when no class is shared.  0 without a partition.
  double imbalance = 0;
};

// `partition` may be null: the rows are then the splits.  Throws Error where
// the dataset has labels but not that level.
Description Describe(const Dataset& dataset, const Partition* partition, const std::string& level);

// For a terminal, aligned.  More than 20 classes become one block a class, its
// height the count.
std::string DescribeText(const Description& description);

// A drawing of its own: one disc a silo and class, its area the count, which is
// also its tooltip.  No script; readable on light and dark backgrounds.
std::string DescribeSvg(const Description& description);

}  // namespace crossilo

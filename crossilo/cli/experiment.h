#pragma once

#include <string>

#include "crossilo/base/config.h"
#include "crossilo/data/dataset.h"
#include "crossilo/data/partition.h"
#include "crossilo/eval/evaluate.h"
#include "crossilo/methods/method.h"

namespace crossilo {

// What an experiment file says, with every default filled in.
struct Experiment {
  std::string name;  // what tables call it; "" for the method's name
  uint64_t seed = 1;
  int threads = 1;

  std::string data;       // a dataset folder
  std::string labels;     // the label level to learn and to judge by
  std::string coarse;     // the level above it, for bases that learn two; "" for none
  int64_t pseudo = 0;     // > 0: training sees so many agreed clusters in the place of labels
  double validation = 0;  // share of the training split that stands in for the queries

  PartitionOptions partition;

  const ModelKind* model = nullptr;
  const Method* method = nullptr;
  TrainingOptions training;
  double participation = 1;  // share of the silos that take part in a round

  int64_t every = 5;           // rounds between evaluations; the last round always has one
  bool dealt = false;          // judged on each silo's own query and retrieval sets
  bool both = false;           // judged on the whole sets, and at the end also on each silo's own
  std::string deal = "alike";  // how a silo's own sets are drawn
  int64_t judged_silos = 0;    // of a personal method: the first so many; 0: all
  EvaluateOptions evaluate;

  Config config;  // the whole file; Table("model") and Table("method") go to their makers
};

// Reads every key there is, those of the base and the method too, and refuses
// any other.
Experiment ReadExperiment(Config config);

// With experiment.validation > 0: takes that share of the training split away
// as queries and leaves the rest as training and retrieval, so that settings
// can be chosen without a look at the real queries.
void SetAsideValidation(Dataset& dataset, double share, uint64_t seed);

}  // namespace crossilo

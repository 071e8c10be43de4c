#include "crossilo/cli/experiment.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

std::vector<std::string> PresetNames(const ModelKind& kind) {
  std::vector<std::string> names;
  for (const Preset& preset : kind.presets) names.push_back(preset.name);
  return names;
}

// A preset's settings become defaults, so they are in place before any key is
// read.
void ApplyPreset(Experiment& experiment) {
  const Config table = experiment.config.Table("model");
  const std::string base = table.Text("base", "shdch", "the base model; see `crossilo models`");
  experiment.model = &FindModel(base);
  const std::string chosen =
      table.Choice("preset", "default", PresetNames(*experiment.model),
                   "default: chosen for heads on frozen features; paper: the authors' values");
  for (const Preset& preset : experiment.model->presets) {
    if (preset.name != chosen) continue;
    for (const std::string& setting : preset.settings) experiment.config.SetDefault(setting);
  }
}

void ReadEvaluate(Experiment& experiment) {
  const Config table = experiment.config.Table("evaluate");
  experiment.every = table.Int("every", experiment.every,
                               "rounds between evaluations; 0: at the "
                               "end only",
                               0);
  const std::string sets =
      table.Choice("sets", "global", {"global", "dealt", "both"},
                   "global: all queries against the whole retrieval split; dealt: each silo's own "
                   "share of both, and the mean over silos; both: global, and dealt at the end");
  experiment.dealt = sets == "dealt";
  experiment.both = sets == "both";
  experiment.deal = table.Choice(
      "deal", "alike", {"alike", "query", "all"},
      "of each silo's own sets: alike: as its training data; query: queries by a draw of their own "
      "(FedUCH's code); all: the retrieval set too (PT-FUCH's and FedWGAN's code)");
  experiment.judged_silos = table.Int(
      "silos", 0, "where every silo's own model is judged: only the first so many; 0: all", 0);
  EvaluateOptions& o = experiment.evaluate;
  o.cutoffs.clear();
  for (int64_t n : table.Ints("at", {10, 20, 30, 50, 100}, "the N of mAP@N, NDCG@N, P@N")) {
    if (n < 1) throw Error("evaluate.at holds {}; cut-offs start at 1", n);
    o.cutoffs.push_back(static_cast<int>(n));
  }
  o.empty_queries = table.Choice("empty_queries", "zero", {"zero", "drop"},
                                 "a query with nothing relevant counts as 0 (DCMH) or is left out "
                                 "(UCCH)") == "drop"
                        ? EmptyQueries::kDrop
                        : EmptyQueries::kCountAsZero;
  o.gain = table.Choice("gain", "binary", {"binary", "shared"},
                        "of NDCG: 1 if relevant, or the number of shared labels") == "shared"
               ? Gain::kSharedLabels
               : Gain::kBinary;
}

// The base and the method read their keys when they are made: the smallest of
// each tells which there are.
void ReadKeysOfModelAndMethod(const Experiment& e) {
  const Config model_table = e.config.Table("model"), method_table = e.config.Table("method");
  const torch::Tensor one = torch::ones({1, 1});
  const Silo silo{.all = {one, one, one, e.coarse.empty() ? torch::Tensor() : one}};
  const auto make = [&] {
    auto model = NewModel(*e.model, {1, 1, 1, e.coarse.empty() ? 0 : 1}, model_table, Random(0));
    if (e.method->prepare != nullptr) e.method->prepare(*model, method_table, 0);
    return model;
  };
  const auto model = make();
  e.method->make_client({silo, *model, e.training, 0}, method_table);
  e.method->make_server(
      {Weights(*model), 1, model->shape(), model->code_dims(), 0, e.training, make}, method_table);
}

}  // namespace

Experiment ReadExperiment(Config config) {
  Experiment e{.config = config};
  ApplyPreset(e);
  e.name = config.Text("name", "", "what tables call the run; \"\" is the method's name");
  e.seed = config.Int("seed", 1, "same seed, same result to the last bit", 0);
  e.threads = static_cast<int>(
      config.Int("threads", 1,
                 "cores for one silo's arithmetic; another number changes the last bits", 1, 1024));
  const Config data = config.Table("data");
  e.data = data.Text("path", "data/emoji", "a dataset folder");
  e.labels = data.Text("labels", "", "the label level to learn and judge by; \"\" is the main one");
  e.coarse = data.Text("coarse", "",
                       "the label level above it, for a base that learns two levels; \"\": none");
  e.pseudo = data.Int("pseudo", 0,
                      "> 0: training sees no labels but so many clusters, which the silos agree on "
                      "before the first round; labels only judge",
                      0, 1 << 20);
  e.validation = data.Real("validation", 0,
                           "share of the training split that stands in for the queries while "
                           "settings are chosen",
                           0, 0.9);
  e.partition = PartitionOptions::From(config.Table("partition"));
  const Config method = config.Table("method");
  e.method = &FindMethod(method.Text("name", "fedavg", "the method; see `crossilo methods`"));
  e.training = TrainingOptions::From(config.Table("training"));
  e.participation = config.Table("training")
                        .Real("participation", 1,
                              "share of the silos that take part in a round; "
                              "at least one does",
                              0, 1);
  ReadEvaluate(e);
  ReadKeysOfModelAndMethod(e);
  config.Finish();
  return e;
}

void SetAsideValidation(Dataset& dataset, double share, uint64_t seed) {
  if (share <= 0) return;
  Rows rows = dataset.Split("training");
  Random random(seed, {}, "validation");
  random.Shuffle(rows);
  const auto cut = static_cast<int64_t>(share * static_cast<double>(rows.size()));
  Rows query(rows.begin(), rows.begin() + cut), rest(rows.begin() + cut, rows.end());
  if (query.empty() || rest.empty()) {
    throw Error("data.validation = {} leaves no queries or no training samples", share);
  }
  std::sort(query.begin(), query.end());
  std::sort(rest.begin(), rest.end());
  dataset.splits["query"] = query;
  dataset.splits["training"] = rest;
  dataset.splits["retrieval"] = rest;
}

}  // namespace crossilo

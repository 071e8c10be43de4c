#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/judge.h"
#include "crossilo/cli/results.h"
#include "crossilo/cli/table.h"
#include "crossilo/models/bundle.h"

namespace crossilo {
namespace {

struct EvaluateArguments {
  std::string bundle, data, labels, curves;
  std::vector<int> cutoffs = {10, 20, 30, 50, 100};
  bool drop = false, shared = false, json = false;
};

// recall, precision image→text, precision text→image: a line each.
std::string Curves(const Scores& s) {
  std::string out = "recall\ti2t\tt2i\n";
  for (size_t i = 0; i < s.i2t.precision_at_recall.size(); ++i) {
    out += fmt::format("{:.2f}\t{:.6f}\t{:.6f}\n", static_cast<double>(i) / 100,
                       s.i2t.precision_at_recall[i], s.t2i.precision_at_recall[i]);
  }
  return out;
}

std::string ScoreTable(const Scores& s) {
  TextTable table({"measure", "image→text", "text→image"});
  const auto row = [&](const std::string& name, double i2t, double t2i) {
    table.Row({name, fmt::format("{:.4f}", i2t), fmt::format("{:.4f}", t2i)});
  };
  row("mAP", s.i2t.map, s.t2i.map);
  row("mAP, ties averaged", s.i2t.tie_aware_map, s.t2i.tie_aware_map);
  row("chance", s.i2t.chance, s.t2i.chance);
  for (const auto& [n, value] : s.i2t.map_at) {
    row(fmt::format("mAP@{}", n), value, s.t2i.map_at.at(n));
  }
  for (const auto& [n, value] : s.i2t.ndcg_at) {
    row(fmt::format("NDCG@{}", n), value, s.t2i.ndcg_at.at(n));
  }
  for (const auto& [n, value] : s.i2t.precision_at) {
    row(fmt::format("P@{}", n), value, s.t2i.precision_at.at(n));
  }
  for (const auto& [n, value] : s.i2t.recall_at) {
    row(fmt::format("recall@{}", n), value, s.t2i.recall_at.at(n));
  }
  return table.Text();
}

void EvaluateBundle(const EvaluateArguments& a) {
  const Bundle bundle = ReadBundle(a.bundle);
  const Dataset dataset = OpenDataset(a.data);
  CheckFits(bundle, dataset);
  EvaluateOptions options{.cutoffs = a.cutoffs};
  if (a.drop) options.empty_queries = EmptyQueries::kDrop;
  if (a.shared) options.gain = Gain::kSharedLabels;
  const Scores scores = Judge(*MakeModel(bundle), bundle.real_valued(), dataset, a.labels,
                              {dataset.Split("query"), dataset.Split("retrieval")}, options);
  if (!a.curves.empty()) WriteFile(a.curves, Curves(scores));
  std::fputs(a.json ? (ToJson(scores).dump(2) + "\n").c_str() : ScoreTable(scores).c_str(), stdout);
}

}  // namespace

void AddEvaluate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Judge a trained model on a dataset's query split");
  auto a = std::make_shared<EvaluateArguments>();
  command->add_option("--bundle", a->bundle, "A trained model, bundle.safetensors")->required();
  command->add_option("--data", a->data, "A dataset folder")->required();
  command->add_option("--labels", a->labels, "The label level to judge by");
  command->add_option("--at", a->cutoffs, "The N of mAP@N and the like")
      ->check(CLI::PositiveNumber);
  command->add_flag("--drop-empty", a->drop, "Leave out queries with nothing relevant");
  command->add_flag("--shared-gain", a->shared, "NDCG gains count shared labels");
  command->add_option("--curves", a->curves, "Write precision at recall 0 .. 1 into this file");
  command->add_flag("--json", a->json, "As JSON");
  command->footer(
      "\nExample:\n  crossilo evaluate --bundle runs/demo/fedavg/bundle.safetensors "
      "--data data/emoji --labels group\n");
  command->callback([a] { EvaluateBundle(*a); });
}

}  // namespace crossilo

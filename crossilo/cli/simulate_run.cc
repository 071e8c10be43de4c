#include "crossilo/cli/simulate_run.h"

#include <torch/cuda.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>
#include <thread>

#include "crossilo/base/digest.h"
#include "crossilo/base/elapsed.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/experiment.h"
#include "crossilo/cli/progress.h"
#include "crossilo/cli/results.h"
#include "crossilo/federation/simulation.h"
#include "crossilo/methods/pseudo_labels.h"
#include "crossilo/models/bundle.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Tells runs apart that differ in more than their seed.
std::string SettingsDigest(const std::string& resolved) {
  std::string kept;
  std::istringstream lines(resolved);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("seed = ")) kept += line + "\n";
  }
  return Sha256(kept).substr(0, 12);
}

torch::Device DeviceOf(const std::string& name) {
  if (name != "cpu" && !torch::cuda::is_available()) {
    throw Error("--device {}: this build of libtorch sees no GPU; use --device cpu", name);
  }
  return torch::Device(name);
}

// Everything a run holds, from the experiment to its results.
class SimulateRun {
 public:
  explicit SimulateRun(const SimulateArguments& arguments)
      : arguments_(arguments), device_(DeviceOf(arguments.device)) {}

  void operator()() {
    Prepare();
    const int done = arguments_.resume ? simulation_->Resume() : 0;
    log_ = std::make_unique<RoundLog>(out_ / "rounds.jsonl", done);
    Train(done);
    Finish();
  }

 private:
  void Prepare();
  void ClaimFolder() const;
  std::vector<Silo> MakeSilos(const Partition& partition);
  std::vector<JudgedRows> DealJudgedRows(const Partition& partition, bool dealt) const;
  void Train(int done);
  std::map<int, Scores> JudgeOn(const std::vector<JudgedRows>& sets);
  const Scores& JudgeAll();
  void Finish();
  void WriteBundles();
  void WarnNearChance(const Scores& scores) const;
  bool BySilo() const { return simulation_->personal() || experiment_.dealt; }
  Json Summary() const;
  Json Silos() const;

  SimulateArguments arguments_;
  torch::Device device_;
  fs::path out_;
  Experiment experiment_;
  std::string resolved_;
  Dataset dataset_;
  ModelShape shape_;
  std::vector<std::string> silo_names_;
  std::vector<int64_t> silo_sizes_;
  std::vector<JudgedRows> judged_;       // one for all, or one a silo
  std::vector<JudgedRows> also_judged_;  // one a silo, or none
  std::map<int, Scores> scores_;         // of the last evaluation: by silo, or one under 0
  std::optional<Scores> mean_;           // of those
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<RoundLog> log_;
  double prepare_seconds_ = 0;
};

void SimulateRun::Prepare() {
  const auto start = Clock::now();
  out_ = arguments_.out;
  Config config = Config::Load(arguments_.experiment);
  for (const std::string& setting : arguments_.settings) config.Set(setting);
  experiment_ = ReadExperiment(config);
  dataset_ = OpenDataset(experiment_.data);
  SetAsideValidation(dataset_, experiment_.validation, experiment_.seed);
  const bool labelled = !dataset_.labels.empty();
  shape_ = {dataset_.image.size(1), dataset_.text.size(1),
            experiment_.pseudo > 0 ? experiment_.pseudo
            : labelled             ? dataset_.Labels(experiment_.labels).size(1)
                                   : 0,
            experiment_.coarse.empty() ? 0 : dataset_.Labels(experiment_.coarse).size(1)};
  if (experiment_.model->supervised && !labelled && experiment_.pseudo == 0) {
    throw Error(
        "{}: model.base = '{}' learns from labels and this dataset has none; choose a base "
        "that `crossilo models` lists without, or set data.pseudo to a number of clusters",
        experiment_.data, experiment_.model->name);
  }
  const Partition partition = Deal(dataset_, experiment_.partition, experiment_.seed);
  judged_ = DealJudgedRows(partition, experiment_.dealt);
  if (experiment_.both) also_judged_ = DealJudgedRows(partition, true);
  const auto make_model = [this] {
    auto model = NewModel(*experiment_.model, shape_, experiment_.config.Table("model"),
                          Random(experiment_.seed, {}, "weights"));
    model->To(device_);
    return model;
  };
  SimulationOptions options{.seed = experiment_.seed,
                            .participation = experiment_.participation,
                            .threads = experiment_.threads,
                            .training = experiment_.training,
                            .checkpoint = out_ / "checkpoint.safetensors"};
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  options.workers = arguments_.workers > 0 ? arguments_.workers
                    : device_.is_cuda()    ? 1
                                           : std::max(1, cores / experiment_.threads);
  options.experiment = resolved_ = experiment_.config.Resolved();
  simulation_ = std::make_unique<Simulation>(MakeSilos(partition), make_model, *experiment_.method,
                                             experiment_.config.Table("method"), options);
  ClaimFolder();
  WriteFile(out_ / "experiment.toml", resolved_);
  prepare_seconds_ = SecondsSince(start);
}

// Refuses to write over another run, and clears what a killed one left.
void SimulateRun::ClaimFolder() const {
  if (!arguments_.resume && fs::exists(out_ / "rounds.jsonl")) {
    throw Error("{}: holds a run already; go on with --resume or give another --out",
                out_.string());
  }
  if (!fs::exists(out_)) return;
  for (const auto& entry : fs::directory_iterator(out_)) {
    if (entry.path().filename().string().find(".part-") != std::string::npos) {
      fs::remove(entry.path());
    }
  }
}

std::vector<Silo> SimulateRun::MakeSilos(const Partition& partition) {
  std::vector<Silo> silos;
  for (int id = 0; id < partition.silos(); ++id) {
    silos.push_back({.id = id,
                     .name = partition.names[id],
                     .all = Gather(dataset_, partition.training[id],
                                   {experiment_.labels, experiment_.coarse}, device_)});
    silo_names_.push_back(partition.names[id]);
    silo_sizes_.push_back(silos.back().size());
  }
  if (experiment_.pseudo > 0) SetPseudoLabels(silos, experiment_.pseudo, experiment_.seed);
  return silos;
}

std::vector<JudgedRows> SimulateRun::DealJudgedRows(const Partition& partition, bool dealt) const {
  if (!dealt) return {{dataset_.Split("query"), dataset_.Split("retrieval")}};
  const auto deal = [&](const char* split, bool anew) {
    return anew ? DealAnew(dataset_, experiment_.partition, split, experiment_.seed)
                : DealLike(dataset_, partition, experiment_.partition, split, experiment_.seed);
  };
  const auto query = deal("query", experiment_.deal != "alike");
  const auto retrieval = deal("retrieval", experiment_.deal == "all");
  std::vector<JudgedRows> rows;
  rows.reserve(partition.silos());
  for (int id = 0; id < partition.silos(); ++id) rows.push_back({query[id], retrieval[id]});
  return rows;
}

void SimulateRun::Train(int done) {
  const auto rounds = experiment_.training.rounds;
  Progress progress("round", rounds, done);
  if (done > 0 && done < rounds) progress.Say(fmt::format("going on after round {}", done));
  std::string map;
  simulation_->Run([&](const RoundFacts& facts) {
    const auto start = Clock::now();
    const Scores* scores = nullptr;
    const bool due = experiment_.every > 0 && facts.round % experiment_.every == 0;
    if (due || facts.round == rounds) {
      scores = &JudgeAll();
      map = fmt::format("mAP i2t {:.3f} t2i {:.3f}  ", scores->i2t.map, scores->t2i.map);
    }
    const double judging = SecondsSince(start);
    log_->Append(RoundLine(facts, scores, judging));
    progress.Show(facts.round, fmt::format("loss {:.4g}  {}{:.1f} s", facts.loss, map,
                                           facts.train_seconds + facts.merge_seconds + judging));
  });
}

// One score, or one a silo where each is judged by its own model or its own
// sets.  Silos without queries or without anything to retrieve are left out.
std::map<int, Scores> SimulateRun::JudgeOn(const std::vector<JudgedRows>& sets) {
  const bool personal = simulation_->personal();
  int n = personal || sets.size() > 1 ? simulation_->silos() : 1;
  if (personal && experiment_.judged_silos > 0) {
    n = std::min(n, static_cast<int>(experiment_.judged_silos));
  }
  std::map<int, Scores> scores;
  for (int id = 0; id < n; ++id) {
    const JudgedRows& rows = sets[sets.size() > 1 ? id : 0];
    if (rows.query.empty() || rows.retrieval.empty()) continue;
    const HashModel& model = personal ? simulation_->SiloModel(id) : simulation_->GlobalModel();
    scores[id] = Judge(model, experiment_.model->real_valued, dataset_, experiment_.labels, rows,
                       experiment_.evaluate);
  }
  return scores;
}

Scores MeanOver(const std::map<int, Scores>& by_silo) {
  std::vector<Scores> all;
  for (const auto& [id, scores] : by_silo) all.push_back(scores);
  return MeanOf(all);
}

const Scores& SimulateRun::JudgeAll() {
  scores_ = JudgeOn(judged_);
  mean_ = MeanOver(scores_);
  return *mean_;
}

void SimulateRun::WriteBundles() {
  Bundle bundle{.base = experiment_.model->name,
                .model_table = experiment_.config.Table("model").Resolved(),
                .shape = shape_,
                .image_embedding = dataset_.image_embedding,
                .text_embedding = dataset_.text_embedding,
                .notes = {{"method", experiment_.method->name},
                          {"dataset", dataset_.name},
                          {"seed", std::to_string(experiment_.seed)}}};
  const auto fill = [&](const HashModel& model) {
    bundle.weights = Weights(model);
    bundle.context = Copy(model.context());
    if (model.head() != nullptr) bundle.head = model.head()->Description();
  };
  if (!simulation_->personal()) {
    fill(simulation_->GlobalModel());
    WriteBundle(out_ / "bundle.safetensors", bundle);
    return;
  }
  for (int id = 0; id < simulation_->silos(); ++id) {
    fill(simulation_->SiloModel(id));
    bundle.notes["silo"] = silo_names_[id];
    WriteBundle(simulation_->silos() == 1 ? out_ / "bundle.safetensors"
                                          : out_ / "bundles" / fmt::format("{:03}.safetensors", id),
                bundle);
  }
}

Json SimulateRun::Silos() const {
  Json all = Json::array();
  for (size_t id = 0; id < silo_names_.size(); ++id) {
    Json silo = {{"name", silo_names_[id]}, {"samples", silo_sizes_[id]}};
    const auto scores = scores_.find(static_cast<int>(id));
    if (BySilo() && scores != scores_.end()) silo.update(ToJson(scores->second));
    const Facts facts = simulation_->SiloFacts(static_cast<int>(id));
    if (!facts.empty()) silo["facts"] = facts;
    all.push_back(silo);
  }
  return all;
}

Json SimulateRun::Summary() const {
  const bool personal = simulation_->personal();
  Json s;
  const bool alone = experiment_.partition.kind == "pooled" && experiment_.method->name == "local";
  s["name"] = !experiment_.name.empty() ? experiment_.name
              : alone                   ? "centralized"
                                        : experiment_.method->name;
  s["settings"] = SettingsDigest(resolved_);
  s["method"] = experiment_.method->name;
  s["base"] = experiment_.model->name;
  s["dataset"] = dataset_.name;
  s["bits"] = experiment_.model->real_valued ? 0 : simulation_->SiloModel(0).code_dims();
  s["dims"] = simulation_->SiloModel(0).code_dims();
  s["seed"] = experiment_.seed;
  s["rounds"] = experiment_.training.rounds;
  s["partition"] = {{"kind", experiment_.partition.kind}, {"beta", experiment_.partition.beta}};
  s["judged"] = personal ? fmt::format("each silo's model, mean over {} silos", scores_.size())
                         : "the global model";
  s["sets"] = experiment_.dealt ? "each silo's own queries and retrieval set"
                                : "all queries against the whole retrieval set";
  s.update(ToJson(*mean_));
  s["silos"] = Silos();
  const Facts hub = simulation_->HubFacts();
  if (!hub.empty()) s["hub"] = hub;
  Json up = Json::array(), down = Json::array();
  double train = 0, merge = 0, evaluate = 0;
  for (const Json& line : log_->lines()) {
    up.push_back(line["bytes"]["up"]);
    down.push_back(line["bytes"]["down"]);
    train += line["seconds"]["train"].get<double>();
    merge += line["seconds"]["merge"].get<double>();
    evaluate += line["seconds"]["evaluate"].get<double>();
  }
  s["bytes"] = {{"up", up}, {"down", down}};
  s["seconds"] = {
      {"prepare", prepare_seconds_}, {"train", train}, {"merge", merge}, {"evaluate", evaluate}};
  s["peak_memory_bytes"] = PeakMemory();
  s["device"] = arguments_.device;
  s["version"] = CROSSILO_VERSION;
  return s;
}

void SimulateRun::WarnNearChance(const Scores& scores) const {
  for (const auto& [direction, report] :
       {std::pair("image to text", &scores.i2t), std::pair("text to image", &scores.t2i)}) {
    if (report->map > 1.25 * report->chance) continue;
    std::fprintf(stderr,
                 "warning: %s mAP %.3f is about chance (%.3f): training has not moved. Try a "
                 "larger training.learning_rate, a smaller training.batch or more rounds.\n",
                 direction, report->map, report->chance);
  }
}

void SimulateRun::Finish() {
  const Scores mean = mean_ ? *mean_ : JudgeAll();  // resumed after its last round, or no rounds
  WriteBundles();
  Json summary = Summary();
  if (!also_judged_.empty()) {
    const Json dealt = ToJson(MeanOver(JudgeOn(also_judged_)));
    for (const auto& [measure, value] : dealt.items()) summary[measure + "_dealt"] = value;
  }
  WriteFile(out_ / "summary.json", summary.dump(2) + "\n");
  WarnNearChance(mean);
  if (arguments_.json) {
    std::printf("%s\n", summary.dump(2).c_str());
  } else {
    std::printf("%s on %s, %s: mAP image to text %.4f, text to image %.4f (chance %.3f)\n",
                experiment_.method->name.c_str(), dataset_.name.c_str(),
                experiment_.model->name.c_str(), mean.i2t.map, mean.t2i.map, mean.i2t.chance);
    std::printf("results in %s\n", out_.string().c_str());
  }
}

}  // namespace

void RunSimulation(const SimulateArguments& arguments) {
  SimulateRun run(arguments);
  run();
}

}  // namespace crossilo

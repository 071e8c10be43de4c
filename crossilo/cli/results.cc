#include "crossilo/cli/results.h"

#include <sys/resource.h>

#include <fstream>
#include <sstream>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

// Six digits are far below the spread over seeds, and lines stay readable.
double Rounded(double x) { return std::round(x * 1e6) / 1e6; }

Json Both(double i2t, double t2i) { return {{"i2t", Rounded(i2t)}, {"t2i", Rounded(t2i)}}; }

void PutCutoffs(Json& out, const std::string& name, const std::map<int, double>& i2t,
                const std::map<int, double>& t2i) {
  for (const auto& [n, value] : i2t) {
    out[fmt::format("{}@{}", name, n)] = Both(value, t2i.at(n));
  }
}

}  // namespace

Json ToJson(const Scores& s) {
  Json out;
  out["map"] = Both(s.i2t.map, s.t2i.map);
  PutCutoffs(out, "map", s.i2t.map_at, s.t2i.map_at);
  PutCutoffs(out, "ndcg", s.i2t.ndcg_at, s.t2i.ndcg_at);
  PutCutoffs(out, "precision", s.i2t.precision_at, s.t2i.precision_at);
  PutCutoffs(out, "recall", s.i2t.recall_at, s.t2i.recall_at);
  out["tie_aware_map"] = Both(s.i2t.tie_aware_map, s.t2i.tie_aware_map);
  out["chance"] = Both(s.i2t.chance, s.t2i.chance);
  out["queries"] = s.i2t.queries;
  out["queries_without_relevant"] = s.i2t.queries_without_relevant;
  return out;
}

Json RoundLine(const RoundFacts& facts, const Scores* scores, double evaluate_seconds) {
  Json line;
  line["round"] = facts.round;
  line["loss"] = facts.loss;
  if (scores != nullptr) line["map"] = Both(scores->i2t.map, scores->t2i.map);
  line["silos"] = facts.silos;
  line["bytes"] = {{"up", facts.bytes_up}, {"down", facts.bytes_down}};
  if (!facts.hub.empty()) line["hub"] = facts.hub;
  line["seconds"] = {{"train", Rounded(facts.train_seconds)},
                     {"merge", Rounded(facts.merge_seconds)},
                     {"evaluate", Rounded(evaluate_seconds)}};
  return line;
}

RoundLog::RoundLog(const std::filesystem::path& path, int rounds) : path_(path) {
  std::string kept;
  if (rounds > 0) {
    std::istringstream old(ReadFile(path));
    std::string text;
    while (static_cast<int>(lines_.size()) < rounds && std::getline(old, text)) {
      lines_.push_back(Json::parse(text, nullptr, false));
      if (lines_.back().is_discarded()) {
        throw Error("{}: line {} is damaged; remove the folder and start again", path.string(),
                    lines_.size());
      }
      kept += text + "\n";
    }
  }
  WriteFile(path, kept);
}

void RoundLog::Append(const Json& line) {
  lines_.push_back(line);
  std::ofstream out(path_, std::ios::app);
  out << line.dump() << "\n" << std::flush;
  if (!out) throw Error("{}: cannot append: {}", path_.string(), SystemMessage());
}

int64_t PeakMemory() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
}

}  // namespace crossilo

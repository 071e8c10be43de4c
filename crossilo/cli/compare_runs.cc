#include "crossilo/cli/compare_runs.h"

#include <cmath>
#include <map>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

Json ReadSummary(const fs::path& run) {
  const fs::path path = fs::is_directory(run) ? run / "summary.json" : run;
  Json summary = Json::parse(ReadFile(path), nullptr, false);
  if (summary.is_discarded() || !summary.contains("method") || !summary.contains("map")) {
    throw Error("{}: not the summary of a finished run", path.string());
  }
  return summary;
}

// The run as a whole, or as many as it has silos that were judged, each with
// that silo's measures.
std::vector<Json> RowsOf(const std::string& run, bool by_silo) {
  Json summary = ReadSummary(run);
  summary["run"] = run;
  if (!by_silo) return {summary};
  std::vector<Json> rows;
  for (const Json& silo : summary["silos"]) {
    if (!silo.contains("map")) continue;
    Json row = summary;
    row.update(silo);
    row["name"] = summary["name"].get<std::string>() + ", " + silo["name"].get<std::string>();
    rows.push_back(row);
  }
  if (rows.empty()) throw Error("{}: was not judged silo by silo; leave out --silos", run);
  return rows;
}

}  // namespace

double Mean(const std::vector<double>& x) {
  double sum = 0;
  for (double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double Deviation(const std::vector<double>& x) {
  if (x.size() < 2) return 0;
  double squares = 0;
  for (double value : x) squares += (value - Mean(x)) * (value - Mean(x));
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

std::vector<double> Differences(const Group& a, const Group& b, std::vector<double> Group::*x) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.seeds.size(); ++i) {
    for (size_t j = 0; j < b.seeds.size(); ++j) {
      if (a.seeds[i] == b.seeds[j]) differences.push_back((a.*x)[i] - (b.*x)[j]);
    }
  }
  return differences;
}

bool IsNothing(const std::vector<double>& d) {
  return d.size() > 1 && std::abs(Mean(d)) <= Deviation(d);
}

std::vector<Group> Grouped(const CompareArguments& arguments) {
  std::vector<Group> groups;
  std::map<std::string, size_t> known;
  std::vector<Json> rows;
  for (const std::string& run : arguments.runs) {
    for (Json& row : RowsOf(run, arguments.silos)) rows.push_back(std::move(row));
  }
  for (const Json& s : rows) {
    if (!s.contains(arguments.measure)) {
      throw Error(
          "{}: has no '{}'; a summary has map, map@N, ndcg@N, precision@N, recall@N for "
          "the N of evaluate.at",
          s["run"].get<std::string>(), arguments.measure);
    }
    Json key;
    for (const char* part :
         {"name", "dataset", "base", "dims", "sets", "rounds", "partition", "settings"}) {
      key[part] = s.value(part, Json());
    }
    const auto [at, fresh] = known.try_emplace(key.dump(), groups.size());
    if (fresh) groups.push_back({.first = s});
    groups[at->second].i2t.push_back(s[arguments.measure]["i2t"].get<double>());
    groups[at->second].t2i.push_back(s[arguments.measure]["t2i"].get<double>());
    groups[at->second].seeds.push_back(s.value("seed", int64_t{0}));
  }
  return groups;
}

const Group* Rival(const std::vector<Group>& groups, const Group& group, const std::string& name) {
  const Group* best = nullptr;
  int best_alike = -1;
  for (const Group& other : groups) {
    const auto same = [&](const char* key) { return other.first[key] == group.first[key]; };
    if (other.first["name"] != name || !same("dataset") || !same("partition")) continue;
    const int alike = 2 * same("dims") + same("base");
    if (alike > best_alike) best = &other, best_alike = alike;
  }
  return best == &group ? nullptr : best;
}

}  // namespace crossilo

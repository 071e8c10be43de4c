#include <cmath>
#include <cstdio>
#include <map>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/results.h"
#include "crossilo/cli/table.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  std::vector<std::string> runs;
  std::string measure = "map";
  std::string against;  // a name; "" for no differences
  bool silos = false;   // a row a silo
  bool json = false;
};

// Runs that differ in nothing but their seed.
struct Group {
  Json first;
  std::vector<double> i2t, t2i;
  std::vector<int64_t> seeds;
};

double Mean(const std::vector<double>& x) {
  double sum = 0;
  for (double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

// Of a sample: divided by n - 1.
double Deviation(const std::vector<double>& x) {
  if (x.size() < 2) return 0;
  double squares = 0;
  for (double value : x) squares += (value - Mean(x)) * (value - Mean(x));
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

std::string Shown(const std::vector<double>& x) {
  if (x.size() == 1) return fmt::format("{:.3f}", x[0]);
  return fmt::format("{:.3f} ± {:.3f}", Mean(x), Deviation(x));
}

// What a group has more than another on the seeds that both have.
std::vector<double> Differences(const Group& a, const Group& b, std::vector<double> Group::*x) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.seeds.size(); ++i) {
    for (size_t j = 0; j < b.seeds.size(); ++j) {
      if (a.seeds[i] == b.seeds[j]) differences.push_back((a.*x)[i] - (b.*x)[j]);
    }
  }
  return differences;
}

// A mean difference below its spread over seeds is called nothing.
std::string Verdict(const std::vector<double>& d) {
  if (d.empty()) return "–";
  const bool nothing = d.size() > 1 && std::abs(Mean(d)) <= Deviation(d);
  const std::string size = d.size() == 1 ? fmt::format("{:+.3f}", d[0])
                                         : fmt::format("{:+.3f} ± {:.3f}", Mean(d), Deviation(d));
  return nothing ? size + " nothing" : size;
}

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

// In the order in which they were named.
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

// The first group of that name with the same data and partition, or null.
const Group* Rival(const std::vector<Group>& groups, const Group& group, const std::string& name) {
  for (const Group& other : groups) {
    const auto same = [&](const char* key) { return other.first[key] == group.first[key]; };
    if (other.first["name"] == name && same("dataset") && same("partition")) return &other;
  }
  return nullptr;
}

std::vector<std::string> Columns(const CompareArguments& arguments) {
  const std::string measure = arguments.measure == "map" ? "mAP" : arguments.measure;
  std::vector<std::string> columns = {"method", "dataset", "base", "bits", "silos", "runs"};
  for (const char* way : {" image→text", " text→image"}) columns.push_back(measure + way);
  if (!arguments.against.empty()) {
    for (const char* way : {" i→t", " t→i"}) {
      columns.push_back("against " + arguments.against + way);
    }
  }
  columns.push_back("MB sent a round");
  return columns;
}

// `rival` is null where there is nothing to be held against.
std::vector<std::string> RowOf(const Group& group, const Group* rival, bool against) {
  const Json& s = group.first;
  double sent = 0;
  for (const Json& bytes : s["bytes"]["up"]) sent += bytes.get<double>();
  sent /= std::max<size_t>(1, s["bytes"]["up"].size());
  std::vector<std::string> row;
  for (const char* key : {"name", "dataset", "base"}) row.push_back(s[key].get<std::string>());
  for (size_t count : {s["bits"].get<size_t>(), s["silos"].size(), group.i2t.size()}) {
    row.push_back(std::to_string(count));
  }
  for (auto way : {&Group::i2t, &Group::t2i}) row.push_back(Shown(group.*way));
  for (auto way : {&Group::i2t, &Group::t2i}) {
    if (!against) continue;
    row.push_back(rival == nullptr ? "–" : Verdict(Differences(group, *rival, way)));
  }
  row.push_back(fmt::format("{:.2f}", sent / 1e6));
  return row;
}

Json JsonOf(const Group& group, const Group* rival, const CompareArguments& arguments) {
  Json out;
  for (const char* key : {"name", "dataset", "base", "bits"}) out[key] = group.first[key];
  out["measure"] = arguments.measure;
  out["runs"] = group.i2t.size();
  out["mean"] = {{"i2t", Mean(group.i2t)}, {"t2i", Mean(group.t2i)}};
  out["deviation"] = {{"i2t", Deviation(group.i2t)}, {"t2i", Deviation(group.t2i)}};
  if (rival != nullptr) {
    out["against"] = {{"name", arguments.against},
                      {"i2t", Differences(group, *rival, &Group::i2t)},
                      {"t2i", Differences(group, *rival, &Group::t2i)}};
  }
  return out;
}

void Compare(const CompareArguments& arguments) {
  Table table(Columns(arguments));
  Json all = Json::array();
  const std::vector<Group> groups = Grouped(arguments);
  for (const Group& group : groups) {
    const Group* rival = Rival(groups, group, arguments.against);
    if (rival == &group) rival = nullptr;
    table.Row(RowOf(group, rival, !arguments.against.empty()));
    all.push_back(JsonOf(group, rival, arguments));
  }
  std::fputs(arguments.json ? (all.dump(2) + "\n").c_str() : table.Text().c_str(), stdout);
}

}  // namespace

void AddCompare(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compare", "Lay finished runs side by side, seeds as mean and deviation");
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("runs", arguments->runs, "Folders that `simulate` wrote")->required();
  command->add_option("--measure", arguments->measure, "map, map@50, ndcg@10, ...");
  command->add_option("--against", arguments->against,
                      "A method's name: differences to it on the same seeds; a mean below its "
                      "spread is called nothing");
  command->add_flag("--silos", arguments->silos,
                    "A row a silo, where silos were judged one by one");
  command->add_flag("--json", arguments->json, "As JSON");
  command->footer("\nExample:\n  crossilo compare runs/local-* runs/fedavg-* --measure map@50\n");
  command->callback([arguments] { Compare(*arguments); });
}

}  // namespace crossilo

#include <cstdio>
#include <map>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/compare_runs.h"
#include "crossilo/cli/table.h"

namespace crossilo {
namespace {

std::string Shown(const std::vector<double>& x) {
  if (x.size() == 1) return fmt::format("{:.3f}", x[0]);
  return fmt::format("{:.3f} ± {:.3f}", Mean(x), Deviation(x));
}

// A mean difference below its spread over seeds is called nothing.
std::string Verdict(const std::vector<double>& d) {
  if (d.empty()) return "–";
  const std::string size = d.size() == 1 ? fmt::format("{:+.3f}", d[0])
                                         : fmt::format("{:+.3f} ± {:.3f}", Mean(d), Deviation(d));
  return IsNothing(d) ? size + " nothing" : size;
}

// "dirichlet 0.1".
std::string SplitOf(const Group& group) {
  const Json partition = group.first.value("partition", Json::object());
  const std::string kind = partition.value("kind", "");
  if (kind != "dirichlet") return kind;
  return fmt::format("{} {:g}", kind, partition.value("beta", 0.0));
}

bool SplitsDiffer(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    if (SplitOf(group) != SplitOf(groups.front())) return true;
  }
  return false;
}

std::vector<std::string> Columns(const CompareArguments& arguments, bool splits) {
  const std::string measure = arguments.measure == "map" ? "mAP" : arguments.measure;
  std::vector<std::string> columns = {"method", "dataset", "base", "bits", "silos", "runs"};
  if (splits) columns.insert(columns.begin() + 2, "split");
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
std::vector<std::string> RowOf(const Group& group, const Group* rival, bool against, bool splits) {
  const Json& s = group.first;
  double sent = 0;
  for (const Json& bytes : s["bytes"]["up"]) sent += bytes.get<double>();
  sent /= std::max<size_t>(1, s["bytes"]["up"].size());
  std::vector<std::string> row;
  for (const char* key : {"name", "dataset", "base"}) row.push_back(s[key].get<std::string>());
  for (size_t count : {s["bits"].get<size_t>(), s["silos"].size(), group.i2t.size()}) {
    row.push_back(std::to_string(count));
  }
  if (splits) row.insert(row.begin() + 2, SplitOf(group));
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

// One cell: the mean, marked where it differs from its rival's by more than the
// spread over seeds.
std::string Marked(const Group& group, const Group* rival, std::vector<double> Group::*way) {
  const std::string mean = fmt::format("{:.3f}", Mean(group.*way));
  if (rival == nullptr) return mean;
  const auto d = Differences(group, *rival, way);
  if (d.empty() || IsNothing(d)) return mean + "=";
  return mean + (Mean(d) > 0 ? "+" : "-");
}

// A row a method, a column a code length and direction.
std::string ByBits(const std::vector<Group>& groups, const CompareArguments& arguments) {
  std::set<int64_t> lengths;
  for (const Group& group : groups) lengths.insert(group.first["bits"].get<int64_t>());
  std::vector<std::string> headings = {"method", "base"};
  for (const char* way : {"i→t ", "t→i "}) {
    for (int64_t bits : lengths) headings.push_back(way + std::to_string(bits));
  }
  std::vector<std::pair<std::string, std::string>> rows;  // name and base, in order
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::string>> cells;
  for (const Group& group : groups) {
    const Json& s = group.first;
    const std::pair row(s["name"].get<std::string>(), s["base"].get<std::string>());
    if (!cells.contains(row)) rows.push_back(row);
    const Group* rival = Rival(groups, group, arguments.against);
    const std::string bits = std::to_string(s["bits"].get<int64_t>());
    cells[row]["i→t " + bits] = Marked(group, rival, &Group::i2t);
    cells[row]["t→i " + bits] = Marked(group, rival, &Group::t2i);
  }
  TextTable table(headings);
  for (const auto& row : rows) {
    std::vector<std::string> line = {row.first, row.second};
    for (size_t i = 2; i < headings.size(); ++i) line.push_back(cells[row][headings[i]]);
    table.Row(line);
  }
  return table.Text();
}

void Compare(const CompareArguments& arguments) {
  const std::vector<Group> groups = Grouped(arguments);
  if (arguments.bits && !arguments.json) {
    std::fputs(ByBits(groups, arguments).c_str(), stdout);
    return;
  }
  const bool splits = SplitsDiffer(groups);
  TextTable table(Columns(arguments, splits));
  Json all = Json::array();
  for (const Group& group : groups) {
    const Group* rival = Rival(groups, group, arguments.against);
    table.Row(RowOf(group, rival, !arguments.against.empty(), splits));
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
  command->add_flag("--bits", arguments->bits,
                    "A column a code length; with --against marked + or - where more or less than "
                    "the spread over seeds, = where not");
  command->add_flag("--json", arguments->json, "As JSON");
  command->footer("\nExample:\n  crossilo compare runs/local-* runs/fedavg-* --measure map@50\n");
  command->callback([arguments] { Compare(*arguments); });
}

}  // namespace crossilo

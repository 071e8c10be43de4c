#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/lines.h"
#include "crossilo/cli/collection.h"
#include "crossilo/cli/collection_change.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/index_commands.h"
#include "crossilo/cli/results.h"
#include "crossilo/cli/table.h"
#include "crossilo/index/generations.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct IndexArguments {
  std::string collection, bundle, data, index = "auto";
  std::vector<std::string> names;
  std::string names_from;
  CollectionSettings settings;
  int generation = 0;
  bool stay = false, verify = false, json = false;
};

// For a collection; a file that stands alone has its store's own lock.
std::unique_ptr<WriterLock> Lock(const fs::path& collection) {
  if (!fs::is_directory(collection)) return nullptr;
  return std::make_unique<WriterLock>(collection / "lock");
}

void Info(const IndexArguments& a);

void Build(IndexArguments a) {
  if (fs::exists(fs::path(a.collection) / "current")) {
    throw Error(
        "{} is a collection already; `crossilo index reencode` gives it a new model, "
        "`crossilo index add` more items",
        a.collection);
  }
  fs::create_directories(a.collection);
  const auto lock = Lock(a.collection);
  a.settings.sources = {{fs::canonical(a.data).string(), 0}};
  if (a.settings.name.empty()) a.settings.name = OpenDataset(a.data).name;
  SwitchTo(a.collection, WriteGeneration(a.collection, a.bundle, a.settings, nullptr, a.index));
  Info(a);
}

void Reencode(const IndexArguments& a) {
  const auto lock = Lock(a.collection);
  const fs::path folder = GenerationFolder(a.collection, CurrentGeneration(a.collection));
  const auto old = Store::Open(folder / "items.cxi");
  const int generation =
      WriteGeneration(a.collection, a.bundle, ReadCollectionSettings(folder), old.get(), a.index);
  if (!a.stay) SwitchTo(a.collection, generation);
  std::printf("generation %d is ready%s\n", generation, a.stay ? "" : " and serves");
  for (const int gone : PruneGenerations(a.collection))
    std::printf("generation %d removed\n", gone);
}

void Add(const IndexArguments& a) {
  const auto lock = Lock(a.collection);
  const Added added = AddItems(a.collection, a.data);
  std::printf("%lld items added, %lld replaced; %lld in all\n", static_cast<long long>(added.added),
              static_cast<long long>(added.replaced), static_cast<long long>(added.size));
}

std::vector<std::string> NamesOf(const IndexArguments& a) {
  std::vector<std::string> names = a.names;
  if (!a.names_from.empty()) {
    for (std::string& line : SplitLines(ReadFile(a.names_from))) {
      if (!line.empty()) names.push_back(std::move(line));
    }
  }
  if (names.empty()) throw Error("say which items: their names, or --from FILE with one a line");
  return names;
}

void Remove(const IndexArguments& a) {
  const auto lock = Lock(a.collection);
  const auto store = Store::OpenForWriting(StorePath(a.collection));
  int64_t removed = 0;
  std::vector<std::string> unknown;
  for (const std::string& name : NamesOf(a)) {
    if (store->Remove(IdOf(name))) {
      ++removed;
    } else {
      unknown.push_back(name);
    }
  }
  store->Commit();
  std::printf("%lld items removed; %lld left\n", static_cast<long long>(removed),
              static_cast<long long>(store->size()));
  if (!unknown.empty()) {
    const size_t shown = std::min<size_t>(unknown.size(), 5);
    throw Error("{} {} not in it: {}{}", unknown.size(), unknown.size() == 1 ? "is" : "are",
                fmt::join(unknown.begin(), unknown.begin() + shown, ", "),
                shown < unknown.size() ? ", ..." : "");
  }
}

void Compact(const IndexArguments& a) {
  const auto lock = Lock(a.collection);
  const auto store = Store::OpenForWriting(StorePath(a.collection));
  const int64_t logged = store->logged();
  store->Compact();
  std::printf("%lld changes taken into the file\n", static_cast<long long>(logged));
}

void Switch(const IndexArguments& a) {
  const auto lock = Lock(a.collection);
  int generation = a.generation;
  if (generation == 0) {  // back
    const int current = CurrentGeneration(a.collection);
    for (const int other : Generations(a.collection)) {
      if (other < current) generation = other;
    }
    if (generation == 0) throw Error("there is no generation before {} to go back to", current);
  }
  SwitchTo(a.collection, generation);
  std::printf("generation %d serves\n", generation);
}

Json About(const IndexArguments& a, const Store& store) {
  const Schema& schema = store.schema();
  Json about = {{"items", store.size()}, {"logged", store.logged()}};
  if (fs::is_directory(a.collection)) {
    about["generation"] = CurrentGeneration(a.collection);
    about["generations"] = Generations(a.collection);
  }
  (schema.bits > 0 ? about["bits"] : about["dims"]) = schema.bits > 0 ? schema.bits : schema.dims;
  about["model"] = schema.model;
  about["rerank"] = schema.vectors;
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const int column = static_cast<int>(c);
    about["columns"].push_back({{"name", schema.columns[c]},
                                {"items", store.Count(column, {})},
                                {"index", store.index_kind(column)}});
  }
  about["choice"] = schema.choice;
  about["silos"] = store.Silos().size();
  about["classes"] = store.Classes().size();
  about["bytes"] = fs::file_size(StorePath(a.collection));
  return about;
}

void Info(const IndexArguments& a) {
  const auto store = Store::Open(StorePath(a.collection));
  if (a.verify) store->Verify();
  Json about = About(a, *store);
  if (a.verify) about["verified"] = true;
  if (a.json) {
    std::printf("%s\n", about.dump(2).c_str());
    return;
  }
  TextTable table({"what", ""});
  for (const auto& [key, value] : about.items()) {
    if (key == "columns") {
      for (const Json& column : value) {
        table.Row({column["name"], fmt::format("{} items, {}", column["items"].dump(),
                                               column["index"].get<std::string>())});
      }
    } else if (value != "") {
      table.Row({key, value.is_string() ? value.get<std::string>() : value.dump()});
    }
  }
  std::fputs(table.Text().c_str(), stdout);
}

}  // namespace

void AddIndex(CLI::App& app) {
  CLI::App* index =
      app.add_subcommand("index", "Make a collection that can be searched, and change it");
  index->require_subcommand(1);
  auto a = std::make_shared<IndexArguments>();
  const auto add = [&](const char* name, const char* help, void (*run)(const IndexArguments&)) {
    CLI::App* command = index->add_subcommand(name, help);
    command->add_option("collection", a->collection, "The collection's folder")->required();
    command->callback([a, run] { run(*a); });
    return command;
  };
  CLI::App* build = add("build", "Code a dataset and make a collection of it",
                        [](const IndexArguments& b) { Build(b); });
  build->add_option("--bundle", a->bundle, "A trained model, bundle.safetensors")->required();
  build->add_option("--data", a->data, "A dataset folder")->required();
  build->add_option("--name", a->settings.name, "What the collection is called");
  build->add_option("--silo-column", a->settings.silo_column,
                    "Column of items.tsv that names the silo");
  build->add_option("--level", a->settings.level, "Label level that classes are named by");
  build->add_option("--rerank", a->settings.vectors, "Keep for re-ranking: relaxed, features, none")
      ->check(CLI::IsMember({"relaxed", "features", "none"}));
  build->add_option("--index", a->index, "auto, flat or mih")
      ->check(CLI::IsMember({"auto", "flat", "mih"}));
  CLI::App* more = add("add", "Add a dataset's items, or replace those of the same name", Add);
  more->add_option("--data", a->data, "A dataset folder")->required();
  CLI::App* remove = add("remove", "Take items out by name", Remove);
  remove->add_option("names", a->names, "Their names");
  remove->add_option("--from", a->names_from, "A file with one name a line");
  CLI::App* info = add("info", "What is in it, and how it is searched", Info);
  info->add_flag("--verify", a->verify, "Read every byte and compare the checksums");
  info->add_flag("--json", a->json, "As JSON");
  add("compact", "Take the log's changes into the file", Compact);
  CLI::App* again =
      add("reencode", "Code all items with a new model, while the old one serves", Reencode);
  again->add_option("--bundle", a->bundle, "The new model")->required();
  again->add_option("--index", a->index, "auto, flat or mih")
      ->check(CLI::IsMember({"auto", "flat", "mih"}));
  again->add_flag("--stay", a->stay, "Do not switch to it yet");
  CLI::App* to =
      add("switch", "Serve another generation; without a number, the one before", Switch);
  to->add_option("generation", a->generation, "Its number")->check(CLI::PositiveNumber);
  AddIndexExchange(*index);
  index->footer(
      "\nExamples:\n"
      "  crossilo index build found/emoji --bundle b.safetensors --data data/emoji --silo-column "
      "house\n"
      "  crossilo index add found/emoji --data data/more\n"
      "  crossilo index remove found/emoji google/1f600\n"
      "  crossilo index reencode found/emoji --bundle better.safetensors\n");
}

}  // namespace crossilo

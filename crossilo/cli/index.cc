#include <algorithm>
#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/lines.h"
#include "crossilo/cli/collection.h"
#include "crossilo/cli/collection_change.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/index_commands.h"
#include "crossilo/cli/table.h"
#include "crossilo/data/utf8.h"
#include "crossilo/index/generations.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct IndexArguments {
  std::string collection, bundle, data, index = "auto";
  std::vector<std::string> names;
  std::string names_from;
  CollectionSettings settings;
  bool stay = false, drop_missing = false;
};

void CheckIsNew(const fs::path& collection) {
  std::error_code failed;
  if (!fs::exists(collection / "current", failed)) return;
  throw Error(
      "{} is a collection already; `crossilo index reencode` gives it a new model, "
      "`crossilo index add` more items",
      collection.string());
}

void Build(IndexArguments a) {
  CheckIsNew(a.collection);
  if (!IsUtf8(a.settings.name)) throw Error("--name must be UTF-8");
  a.settings.sources = {{.path = SourcePath(a.data)}};
  if (a.settings.name.empty()) a.settings.name = OpenDataset(a.data).name;
  NewGeneration made(a.bundle, a.settings, nullptr);
  const WriterLock lock(fs::path(a.collection) / "lock");  // makes the folder
  CheckIsNew(a.collection);                                // still
  SwitchTo(a.collection, made.Write(a.collection, a.index));
  ShowInfo(a.collection, /*verify=*/false, /*json=*/false);
}

void Reencode(const IndexArguments& a) {
  const auto lock = LockCollection(a.collection);
  const int current = CurrentGeneration(a.collection);
  const fs::path folder = GenerationFolder(a.collection, current);
  const auto old = Store::Open(folder / "items.cxi");
  NewGeneration made(a.bundle, ReadCollectionSettings(folder), old.get(), a.drop_missing);
  const int generation = made.Write(a.collection, a.index);
  if (!a.stay) SwitchTo(a.collection, generation);
  std::printf("generation %d is ready%s: %s\n", generation, a.stay ? "" : " and serves",
              Counted(made.size()).c_str());
  if (made.size() < old->size()) {
    std::printf("%s left out\n", Counted(old->size() - made.size()).c_str());
  }
  for (const int gone : PruneGenerations(a.collection, a.stay ? 0 : current)) {
    std::printf("generation %d removed\n", gone);
  }
}

void Add(const IndexArguments& a) {
  const auto lock = LockCollection(a.collection);
  const Added added = AddItems(a.collection, a.data);
  std::printf("%s added, %lld replaced; %lld in all\n", Counted(added.added).c_str(),
              static_cast<long long>(added.replaced), static_cast<long long>(added.size));
}

std::vector<std::string> NamesOf(const IndexArguments& a) {
  std::vector<std::string> names = a.names;
  if (!a.names_from.empty()) {
    for (std::string& line : SplitLines(ReadFile(a.names_from))) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) names.push_back(std::move(line));
    }
  }
  if (names.empty()) throw Error("say which items: their names, or --from FILE with one a line");
  return names;
}

void Remove(const IndexArguments& a) {
  const auto lock = LockCollection(a.collection);
  const auto store = Store::OpenForWriting(StorePath(a.collection));
  int64_t removed = 0;
  std::vector<std::string> unknown;
  for (const std::string& name : NamesOf(a)) {
    if (RemoveItem(*store, name)) {
      ++removed;
    } else {
      unknown.push_back(Printable(name));
    }
  }
  store->Commit();
  std::printf("%s removed; %lld left\n", Counted(removed).c_str(),
              static_cast<long long>(store->size()));
  if (!unknown.empty()) {
    const size_t shown = std::min<size_t>(unknown.size(), 5);
    throw Error("{} {} not in it: {}{}", unknown.size(), unknown.size() == 1 ? "is" : "are",
                fmt::join(unknown.begin(), unknown.begin() + shown, ", "),
                shown < unknown.size() ? ", ..." : "");
  }
}

void Compact(const IndexArguments& a) {
  const auto lock = LockCollection(a.collection);
  const auto store = Store::OpenForWriting(StorePath(a.collection));
  const int64_t logged = store->logged();
  store->Compact();
  std::printf("%lld changes taken into the file\n", static_cast<long long>(logged));
}

constexpr char kExamples[] =
    "\nExamples:\n"
    "  crossilo index build found/emoji --bundle b.safetensors --data data/emoji --silo-column "
    "house\n"
    "  crossilo index add found/emoji --data data/more\n"
    "  crossilo index remove found/emoji google/1f600\n"
    "  crossilo index reencode found/emoji --bundle better.safetensors\n";

using Arguments = std::shared_ptr<IndexArguments>;

CLI::App* AddCommand(CLI::App* index, const Arguments& a, const char* name, const char* help,
                     void (*run)(const IndexArguments&)) {
  CLI::App* command = index->add_subcommand(name, help);
  command->add_option("collection", a->collection, "The collection's folder")->required();
  command->callback([a, run] { run(*a); });
  return command;
}

void AddIndexKind(CLI::App* command, const Arguments& a) {
  command->add_option("--index", a->index, "auto, flat or mih")
      ->check(CLI::IsMember({"auto", "flat", "mih"}));
}

void AddBuild(CLI::App* index, const Arguments& a) {
  CLI::App* build = AddCommand(index, a, "build", "Code a dataset and make a collection of it",
                               [](const IndexArguments& b) { Build(b); });
  build->add_option("--bundle", a->bundle, "A trained model, bundle.safetensors")->required();
  build->add_option("--data", a->data, "A dataset folder")->required();
  build->add_option("--name", a->settings.name, "What the collection is called");
  build->add_option("--silo-column", a->settings.silo_column,
                    "Column of items.tsv that names the silo");
  build->add_option("--level", a->settings.level, "Label level that classes are named by");
  build->add_option("--rerank", a->settings.vectors, "Keep for re-ranking: relaxed, features, none")
      ->check(CLI::IsMember({"relaxed", "features", "none"}));
  AddIndexKind(build, a);
}

void AddReencode(CLI::App* index, const Arguments& a) {
  CLI::App* again = AddCommand(
      index, a, "reencode", "Code all items with a new model, while the old one serves", Reencode);
  again->add_option("--bundle", a->bundle, "The new model")->required();
  AddIndexKind(again, a);
  again->add_flag("--stay", a->stay, "Do not switch to it yet");
  again->add_flag("--drop-missing", a->drop_missing,
                  "Leave out items that their datasets have no more");
}

}  // namespace

std::string Counted(int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "item" : "items");
}

std::unique_ptr<WriterLock> LockCollection(const fs::path& collection) {
  std::error_code failed;
  const bool ours = fs::exists(collection / "current", failed) || !Generations(collection).empty();
  return ours ? std::make_unique<WriterLock>(collection / "lock") : nullptr;
}

void AddIndex(CLI::App& app) {
  CLI::App* index =
      app.add_subcommand("index", "Make a collection that can be searched, and change it");
  index->require_subcommand(1);
  index->footer(kExamples);  // first: its commands take it over
  auto a = std::make_shared<IndexArguments>();
  AddBuild(index, a);
  AddCommand(index, a, "add", "Add a dataset's items, or replace those of the same name", Add)
      ->add_option("--data", a->data, "A dataset folder")
      ->required();
  CLI::App* remove = AddCommand(index, a, "remove", "Take items out by name", Remove);
  remove->add_option("names", a->names, "Their names");
  remove->add_option("--from", a->names_from, "A file with one name a line");
  AddIndexInfo(*index);
  AddCommand(index, a, "compact", "Take the log's changes into the file", Compact);
  AddReencode(index, a);
  AddIndexSwitch(*index);
  AddIndexExchange(*index);
}

}  // namespace crossilo

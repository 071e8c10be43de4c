#include "crossilo/cli/collection_change.h"

#include <algorithm>
#include <map>
#include <set>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/cli/progress.h"
#include "crossilo/index/generations.h"
#include "crossilo/serve/facts.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// Removes a draft that Complete has not given its name.
struct DraftGuard {
  const Draft& draft;

  ~DraftGuard() {
    std::error_code failed;
    RemoveAll(draft.folder, failed);
  }
};

void CheckDistinct(const CodedDataset& coded) {
  std::set<int64_t> ids;
  for (int64_t row = 0; row < coded.size(); ++row) {
    const std::string name = coded.NameOf(row);
    if (!ids.insert(IdOf(name)).second) {
      throw Error("two items have the id '{}'; give each its own", name);
    }
  }
}

// What a person calls an item.
std::string NameOf(const Item& item) {
  const std::string name = ReadFacts(item.facts).name;
  return name.empty() ? std::to_string(item.id) : name;
}

// The smallest number above every source's and every item's that is not a hash.
int64_t NextId(const Store& store, const std::vector<Source>& sources) {
  int64_t next = 0;
  for (const Source& source : sources) next = std::max(next, source.first_id + source.rows);
  store.ForEach([&](const Item& item) {
    if (item.id < int64_t{1} << 62) next = std::max(next, item.id + 1);
    return true;
  });
  return next;
}

// The other source that a number belongs to, by its rows or, where an older
// collection.toml does not say how many, by the item itself; -1: none.
int OwnerOf(int64_t id, int mine, const std::vector<Source>& sources, const Store& store) {
  for (int s = 0; s < std::ssize(sources); ++s) {
    const Source& source = sources[s];
    if (s != mine && id >= source.first_id && id < source.first_id + source.rows) return s;
  }
  const auto item = store.Find(id);
  const int owner = item ? ReadFacts(item->facts).source : mine;
  return owner == mine || owner >= std::ssize(sources) ? -1 : owner;
}

// A dataset that has grown must not go on into the numbers of the next.
void CheckNumbers(const CodedDataset& coded, int mine, const std::vector<Source>& sources,
                  const Store& store) {
  for (int64_t row = 0; row < coded.size(); ++row) {
    if (coded.HasId(row)) continue;
    const int owner = OwnerOf(sources[mine].first_id + row, mine, sources, store);
    if (owner < 0) continue;
    throw Error(
        "{}: row {} has no id and would replace item {} of {}; put the rows from {} on into a "
        "dataset folder of their own and add that",
        sources[mine].path, row, sources[mine].first_id + row, sources[owner].path, row);
  }
}

// The number of a dataset's source, a new one where it has none.
int SourceOf(const std::string& path, std::vector<Source>& sources) {
  const auto known =
      std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return s.path == path; });
  const auto number = static_cast<int>(known - sources.begin());
  if (known == sources.end()) sources.push_back({.path = path, .first_id = -1});
  return number;
}

void PutAll(CodedDataset& coded, Store& store) {
  Progress progress("adding", coded.size());
  for (int64_t row = 0; row < coded.size(); ++row) {
    store.Put(coded.At(row));
    if (row % 2048 == 2047) {
      store.Commit();
      progress.Show(row + 1);
    }
  }
  store.Commit();
  progress.Show(coded.size());
}

}  // namespace

NewGeneration::NewGeneration(const fs::path& bundle, const CollectionSettings& settings,
                             const Store* keep, bool drop_missing)
    : bundle_path_(bundle),
      settings_(settings),
      bundle_(ReadBundle(bundle)),
      model_(MakeModel(bundle_)) {
  datasets_.reserve(settings_.sources.size());  // coded ones point into it
  for (Source& source : settings_.sources) {
    datasets_.push_back(OpenDataset(source.path));
    coded_.emplace_back(bundle_, *model_, datasets_.back(), settings_,
                        static_cast<int>(coded_.size()));
    if (keep == nullptr) source.rows = coded_.back().numbers();
  }
  if (keep == nullptr) {
    FindAll();
  } else {
    FindThoseOf(*keep, drop_missing);
  }
}

void NewGeneration::FindAll() {
  for (size_t s = 0; s < coded_.size(); ++s) {
    CheckDistinct(coded_[s]);
    for (int64_t row = 0; row < coded_[s].size(); ++row) places_.push_back({s, row});
  }
}

void NewGeneration::FindThoseOf(const Store& keep, bool drop_missing) {
  std::map<int64_t, Place> places;
  for (size_t s = 0; s < coded_.size(); ++s) {
    for (int64_t row = 0; row < coded_[s].size(); ++row) {
      // Other sources may have had an item of this name before or after.
      const auto item = keep.Find(IdOf(coded_[s].NameOf(row)));
      if (item && ReadFacts(item->facts).source == static_cast<int>(s)) places[item->id] = {s, row};
    }
  }
  const int64_t missing = keep.size() - std::ssize(places);
  if (missing > 0 && !drop_missing) {
    keep.ForEach([&](const Item& item) {
      if (places.contains(item.id)) return true;
      throw Error(
          "{} of {} items, such as '{}', are not in their sources any more; restore those, or "
          "leave the items out with --drop-missing",
          missing, keep.size(), NameOf(item));
    });
  }
  for (const auto& [id, place] : places) places_.push_back(place);
  std::sort(places_.begin(), places_.end());
}

int NewGeneration::Write(const fs::path& collection, const std::string& index) {
  const Draft draft = BeginGeneration(collection);
  const DraftGuard guard{draft};
  const std::string bytes = ReadFile(bundle_path_);
  WriteFile(draft.folder / "bundle.safetensors", bytes);
  const Schema schema = SchemaOf(bundle_, *model_, Sha256(bytes), settings_);
  {
    Progress progress("coding", size());
    const auto item = [&](int64_t i) {
      if (i % 2048 == 0) progress.Show(i);
      return coded_[places_[i].source].At(places_[i].row);
    };
    Store::Create(draft.folder / "items.cxi", schema, size(), item, {.index = index});
    progress.Show(size());
  }
  WriteCollectionSettings(draft.folder, settings_);
  Complete(collection, draft);
  return draft.generation;
}

Added AddItems(const fs::path& collection, const fs::path& data) {
  const fs::path folder = GenerationFolder(collection, CurrentGeneration(collection));
  CollectionSettings settings = ReadCollectionSettings(folder);
  const auto store = Store::OpenForWriting(folder / "items.cxi");
  CheckModel(*store, folder);
  const Bundle bundle = ReadBundle(folder / "bundle.safetensors");
  const auto model = MakeModel(bundle);
  const std::string path = SourcePath(data);
  const Dataset dataset = OpenDataset(data);

  const int number = SourceOf(path, settings.sources);
  Source& source = settings.sources[number];
  CodedDataset coded(bundle, *model, dataset, settings, number);
  if (source.first_id < 0) {
    source.first_id = coded.numbers() > 0 ? NextId(*store, settings.sources) : 0;
  }
  CheckDistinct(coded);
  CheckNumbers(coded, number, settings.sources, *store);
  source.rows = std::max(source.rows, coded.numbers());
  WriteCollectionSettings(folder, settings);  // before its items: they point to it

  const int64_t before = store->size();
  PutAll(coded, *store);
  const int64_t added = store->size() - before;
  return {added, coded.size() - added, store->size()};
}

bool RemoveItem(Store& store, const std::string& name) {
  const auto id = WrittenId(name);
  const auto item = id ? store.Find(*id) : std::nullopt;
  const bool nameless = item && ReadFacts(item->facts).name.empty();
  return store.Remove(nameless ? *id : IdOf(name));
}

}  // namespace crossilo

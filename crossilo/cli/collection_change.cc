#include "crossilo/cli/collection_change.h"

#include <algorithm>
#include <map>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/cli/progress.h"
#include "crossilo/index/generations.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct Place {
  size_t source = 0;
  int64_t row = 0;

  auto operator<=>(const Place&) const = default;
};

// Where each item is found, in the order of the sources so that they are coded
// block by block.
std::vector<Place> PlacesOf(const std::vector<CodedDataset>& sources, const Store* keep) {
  std::map<int64_t, Place> places;
  for (size_t s = 0; s < sources.size(); ++s) {
    for (int64_t row = 0; row < sources[s].size(); ++row) {
      const std::string name = sources[s].NameOf(row);
      const auto [known, fresh] = places.insert_or_assign(IdOf(name), Place{s, row});
      if (!fresh && keep == nullptr)
        throw Error("two items have the id '{}'; give each its own", name);
    }
  }
  std::vector<Place> order;
  for (const auto& [id, place] : places) {
    if (keep == nullptr || keep->Find(id)) order.push_back(place);
  }
  std::sort(order.begin(), order.end());
  return order;
}

// The smallest number above every item's that is not a hash.
int64_t NextId(const Store& store) {
  int64_t next = 0;
  store.ForEach([&](const Item& item) {
    if (item.id < int64_t{1} << 62) next = std::max(next, item.id + 1);
    return true;
  });
  return next;
}

}  // namespace

int WriteGeneration(const fs::path& collection, const fs::path& bundle_path,
                    const CollectionSettings& settings, const Store* keep,
                    const std::string& index) {
  const Bundle bundle = ReadBundle(bundle_path);
  const auto model = MakeModel(bundle);
  std::vector<Dataset> datasets;
  std::vector<CodedDataset> coded;
  datasets.reserve(settings.sources.size());  // coded ones point into it
  for (const Source& source : settings.sources) {
    datasets.push_back(OpenDataset(source.path));
    coded.emplace_back(bundle, *model, datasets.back(), settings, static_cast<int>(coded.size()));
  }
  const std::vector<Place> places = PlacesOf(coded, keep);
  const auto count = static_cast<int64_t>(places.size());

  const Draft draft = BeginGeneration(collection);
  fs::copy_file(bundle_path, draft.folder / "bundle.safetensors");
  const Schema schema =
      SchemaOf(bundle, *model, Sha256OfFile(draft.folder / "bundle.safetensors"), settings);
  {
    Progress progress("coding", count);
    const auto item = [&](int64_t i) {
      if (i % 2048 == 0) progress.Show(i);
      return coded[places[i].source].At(places[i].row);
    };
    Store::Create(draft.folder / "items.cxi", schema, count, item, {.index = index});
    progress.Show(count);
  }
  WriteCollectionSettings(draft.folder, settings);
  Complete(collection, draft);
  return draft.generation;
}

Added AddItems(const fs::path& collection, const fs::path& data) {
  const fs::path folder = GenerationFolder(collection, CurrentGeneration(collection));
  CollectionSettings settings = ReadCollectionSettings(folder);
  const auto store = Store::OpenForWriting(folder / "items.cxi");
  const Bundle bundle = ReadBundle(folder / "bundle.safetensors");
  const auto model = MakeModel(bundle);
  const Dataset dataset = OpenDataset(data);

  const std::string path = fs::canonical(data).string();
  auto& sources = settings.sources;
  auto source =
      std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return s.path == path; });
  if (source == sources.end()) {
    sources.push_back({path, dataset.items.Has("id") ? 0 : NextId(*store)});
    source = sources.end() - 1;
  }
  CodedDataset coded(bundle, *model, dataset, settings, static_cast<int>(source - sources.begin()));
  WriteCollectionSettings(folder, settings);  // before its items: they point to it

  const int64_t before = store->size();
  Progress progress("adding", coded.size());
  for (int64_t row = 0; row < coded.size(); ++row) {
    store->Put(coded.At(row));
    if (row % 2048 == 2047) {
      store->Commit();
      progress.Show(row + 1);
    }
  }
  store->Commit();
  progress.Show(coded.size());
  const int64_t added = store->size() - before;
  return {added, coded.size() - added, store->size()};
}

}  // namespace crossilo

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "crossilo/cli/collection.h"

namespace crossilo {

// A generation to be: the items of all sources, ready to be coded with a bundle.
class NewGeneration {
 public:
  // Only items that `keep` has are taken over, unless it is null: what was
  // removed stays removed.  Throws Error on what would not do, before anything
  // is written: a bundle and a dataset that do not fit, an id that comes twice,
  // items of `keep` that their sources have no more, unless `drop_missing`.
  NewGeneration(const std::filesystem::path& bundle, const CollectionSettings& settings,
                const Store* keep, bool drop_missing = false);
  NewGeneration(const NewGeneration&) = delete;
  NewGeneration& operator=(const NewGeneration&) = delete;

  int64_t size() const { return static_cast<int64_t>(places_.size()); }
  // Codes the items and makes a complete generation of them, or leaves nothing;
  // returns its number.  Shows how far it is.  The caller holds the collection's
  // lock.
  int Write(const std::filesystem::path& collection, const std::string& index);

 private:
  struct Place {
    size_t source = 0;
    int64_t row = 0;

    auto operator<=>(const Place&) const = default;
  };

  void FindAll();
  void FindThoseOf(const Store& keep, bool drop_missing);

  std::filesystem::path bundle_path_;
  CollectionSettings settings_;
  Bundle bundle_;
  std::unique_ptr<HashModel> model_;
  std::vector<Dataset> datasets_;
  std::vector<CodedDataset> coded_;  // points into all of the above
  // Where each item is found, in the order of the sources so that they are coded
  // block by block.
  std::vector<Place> places_;
};

struct Added {
  int64_t added = 0, replaced = 0, size = 0;
};

// Codes a dataset with the collection's own model and puts its items into the
// current generation.  The caller holds the collection's lock.
Added AddItems(const std::filesystem::path& collection, const std::filesystem::path& data);

// Takes an item out by its name; false where there is none.  Items that came as
// codes alone have no name: they are shown, and called, by their ids.
bool RemoveItem(Store& store, const std::string& name);

}  // namespace crossilo

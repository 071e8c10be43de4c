#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "crossilo/data/dataset.h"
#include "crossilo/models/bundle.h"
#include "crossilo/serve/searcher.h"

namespace crossilo {

// A dataset whose items are in a collection.
struct Source {
  std::string path;
  int64_t first_id = 0;  // where its items have no id of their own, row 0 has this one
  int64_t rows = 0;      // how many ids from there on are its own; 0: none, or not known
};

// collection.toml of a generation: how its items came to be (docs/FORMATS.md).
struct CollectionSettings {
  std::string name;
  std::vector<Source> sources;      // in the order they were added; later ones replace items
  std::string silo_column;          // of items.tsv; "": the dataset's name
  std::string level;                // the labels that classes are named by
  std::string vectors = "relaxed";  // kept for re-ranking: "relaxed", "features" or "none"
};

CollectionSettings ReadCollectionSettings(const std::filesystem::path& generation);
void WriteCollectionSettings(const std::filesystem::path& generation,
                             const CollectionSettings& settings);

// A dataset's folder as collection.toml names it.  Throws Error where there is
// none, or its name cannot be written there.
std::string SourcePath(const std::filesystem::path& data);

// The items of a dataset, coded by a model block by block as they are asked
// for, in ascending order of rows.
class CodedDataset {
 public:
  CodedDataset(const Bundle& bundle, const HashModel& model, const Dataset& dataset,
               const CollectionSettings& settings, int source);

  int64_t size() const { return dataset_.size(); }
  // Whether a row has an id of its own, and is not named by a number we gave it.
  bool HasId(int64_t row) const { return !dataset_.items.Cell(row, "id").empty(); }
  // How many numbers it takes: one a row, unless every row has an id.
  int64_t numbers() const;
  std::string NameOf(int64_t row) const;
  // Without codes and vectors, so in any order at no cost.
  Item Described(int64_t row) const;
  Item At(int64_t row);

 private:
  void Fill(int64_t row);

  const HashModel& model_;
  const Dataset& dataset_;
  const CollectionSettings& settings_;
  int source_;
  bool real_valued_;
  int64_t begin_ = 0, end_ = 0;  // rows of the block at hand
  std::vector<std::byte> codes_[2];
  torch::Tensor vectors_[2];
};

// What the items of a bundle's codes look like.
Schema SchemaOf(const Bundle& bundle, const HashModel& model, const std::string& bundle_sha256,
                const CollectionSettings& settings);

// Throws Error unless the bundle in a generation's folder is the one that made
// the codes of its store.
void CheckModel(const Store& store, const std::filesystem::path& generation);

// The items of a generation's folder, whose other files are checked too.
std::unique_ptr<Store> OpenItems(const std::filesystem::path& generation,
                                 const StoreOptions& options = {});

// The current generation, or the given one, ready to be searched.
std::shared_ptr<Site> OpenCollection(const std::filesystem::path& collection,
                                     const std::vector<std::string>& backbones,
                                     const StoreOptions& options = {}, int generation = 0);

// The store of a collection's current generation, or of a .cxi file itself.
std::filesystem::path StorePath(const std::filesystem::path& collection_or_file);

}  // namespace crossilo

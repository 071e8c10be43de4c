#pragma once

#include <filesystem>
#include <string>

#include "crossilo/cli/collection.h"

namespace crossilo {

// Codes the items of all sources with a bundle and makes a complete generation
// of them; returns its number.  Only items that `keep` has are taken over,
// unless it is null: what was removed stays removed.  Shows how far it is.
// The caller holds the collection's lock.
int WriteGeneration(const std::filesystem::path& collection, const std::filesystem::path& bundle,
                    const CollectionSettings& settings, const Store* keep,
                    const std::string& index);

struct Added {
  int64_t added = 0, replaced = 0, size = 0;
};

// Codes a dataset with the collection's own model and puts its items into the
// current generation.  The caller holds the collection's lock.
Added AddItems(const std::filesystem::path& collection, const std::filesystem::path& data);

}  // namespace crossilo

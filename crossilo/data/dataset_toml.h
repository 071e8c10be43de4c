#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "crossilo/data/dataset.h"

namespace crossilo {

// What dataset.toml says besides the dataset's own fields.
struct Fingerprints {
  std::string image, text;
};

// Whether a label level or a split may be called so: letters, digits, - and _,
// since it becomes part of a file's name and a key.  "" is the first level.
bool IsPlainName(std::string_view name);

// The text of dataset.toml.
std::string DatasetToml(const Dataset& dataset);

// Fills name, licence, source, embedding kinds and, for the label levels that
// `dataset` has already, the class names.  Throws Error naming the file.
Fingerprints ReadDatasetToml(const std::filesystem::path& path, Dataset& dataset);

}  // namespace crossilo

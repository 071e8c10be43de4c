#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "crossilo/data/embedding.h"
#include "crossilo/data/items.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

using Rows = std::vector<int64_t>;  // sample numbers, 0-based

// Image-text pairs as features, with what is known about them.  On disk it is
// a folder, described in docs/FORMATS.md; features stay mapped from there.
struct Dataset {
  std::string name, licence, source;
  torch::Tensor image, text;  // n x d, float16 or float32
  // Label levels, uint8 n x C multi-hot, by name.  "" is the level that counts
  // unless another is asked for; a dataset without labels has none.
  std::map<std::string, torch::Tensor> labels;
  std::map<std::string, std::vector<std::string>> class_names;  // by level; may be missing
  std::map<std::string, Rows> splits;                           // "training", "retrieval", "query"
  Items items;                                                  // may be empty
  Embedding image_embedding, text_embedding;

  int64_t size() const { return image.size(0); }

  // The labels of a level.  Throws Error, naming the levels there are.
  const torch::Tensor& Labels(const std::string& level) const;
  // The rows of a split.  Throws Error, naming the splits there are.
  const Rows& Split(const std::string& split) const;
};

// Throws Error on the first thing that does not hold: rows that do not match,
// features that are not finite, split rows out of range, an empty set.
void Check(const Dataset& dataset, const std::string& origin);

// Opens a dataset folder; features are mapped, not copied, and checked.
Dataset OpenDataset(const std::filesystem::path& folder);

// Writes the folder, whole or not at all: everything goes to a folder beside
// it that is renamed at the end.  Refuses to replace a folder that is not a
// dataset.  Pictures named by items are copied from below `pictures_from`.
void WriteDataset(const std::filesystem::path& folder, const Dataset& dataset,
                  const std::filesystem::path& pictures_from = {});

}  // namespace crossilo

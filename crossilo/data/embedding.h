#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

// How raw pictures or words became features: enough to make the same features
// from a new picture or sentence later, on another machine.  The embed room
// knows what the settings mean; everybody else only carries and compares them.
struct Embedding {
  std::string kind = "given";  // "given": features came from elsewhere, no raw query possible
  std::map<std::string, std::string> settings;
  TensorMap tensors;  // what was fitted: a PCA basis, a vocabulary

  // Names exactly this embedding: SHA-256 over kind, settings and tensors.
  std::string Fingerprint() const;
};

void WriteEmbedding(const std::filesystem::path& path, const Embedding& embedding);
Embedding ReadEmbedding(const std::filesystem::path& path);

}  // namespace crossilo

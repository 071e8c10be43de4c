#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

// A federation between two rounds: all that is needed to go on as if nothing
// had happened.  Random streams are named, so none has to be stored.
struct Checkpoint {
  int round = 0;           // the last finished one
  std::string experiment;  // the resolved configuration it belongs to
  TensorMap server;
  std::map<int, TensorMap> silos;  // by id
};

void WriteCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

// Nothing when there is no file.  Throws Error when the file is damaged or
// belongs to another experiment.
std::optional<Checkpoint> ReadCheckpoint(const std::filesystem::path& path,
                                         const std::string& experiment);

}  // namespace crossilo

#include "crossilo/federation/checkpoint.h"

#include "crossilo/base/error.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

constexpr char kFormat[] = "crossilo checkpoint 1";

// The first line in which two configurations differ, for the message.
std::string FirstDifference(const std::string& a, const std::string& b) {
  size_t start = 0;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
    if (a[i] == '\n') start = i + 1;
  }
  return a.substr(start, a.find('\n', start) - start);
}

}  // namespace

void WriteCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  TensorFile file;
  file.metadata = {{"format", kFormat},
                   {"round", std::to_string(checkpoint.round)},
                   {"experiment", checkpoint.experiment}};
  file.tensors = Prefixed("server/", checkpoint.server);
  for (const auto& [id, state] : checkpoint.silos) {
    file.tensors.merge(Prefixed("silo/" + std::to_string(id) + "/", state));
  }
  WriteTensors(path, file);
}

std::optional<Checkpoint> ReadCheckpoint(const std::filesystem::path& path,
                                         const std::string& experiment) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  TensorFile file = ReadTensors(path);
  if (file.metadata["format"] != kFormat) {
    throw Error("{}: not a checkpoint of this version; start again in another folder",
                path.string());
  }
  if (file.metadata["experiment"] != experiment) {
    throw Error(
        "{}: this run was started with other settings (there: {}); give the same ones or "
        "another --out",
        path.string(), FirstDifference(file.metadata["experiment"], experiment));
  }
  Checkpoint checkpoint;
  checkpoint.experiment = experiment;
  try {
    checkpoint.round = std::stoi(file.metadata.at("round"));
    checkpoint.server = Under("server/", file.tensors);
    for (const auto& [name, tensor] : Under("silo/", file.tensors)) {
      const size_t slash = name.find('/');
      checkpoint.silos[std::stoi(name.substr(0, slash))][name.substr(slash + 1)] = tensor;
    }
  } catch (const std::logic_error&) {
    throw Error("{}: a damaged checkpoint; remove it to start again", path.string());
  }
  return checkpoint;
}

}  // namespace crossilo

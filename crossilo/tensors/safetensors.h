#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

// A file in the safetensors format: tensors by name and a few words about
// them.  Any Python user opens it with safetensors.torch.load_file.
struct TensorFile {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

// Atomic (see WriteFile); equal content gives equal bytes.
void WriteTensors(const std::filesystem::path& path, const TensorFile& file);

// Tensors are copied out of the file.  Throws Error naming the path and the
// first thing wrong with it; no file's content can do worse than that.
TensorFile ReadTensors(const std::filesystem::path& path);

// The same for bytes in memory; `origin` stands in errors for the path.
std::string EncodeTensors(const TensorFile& file);
TensorFile DecodeTensors(std::string_view bytes, const std::string& origin);

}  // namespace crossilo

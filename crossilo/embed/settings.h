#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "crossilo/data/embedding.h"

// Reading an Embedding that may come from a damaged or foreign bundle; for
// this room only.  All throw Error naming the kind and the setting.
namespace crossilo {

std::string Setting(const Embedding& embedding, const std::string& name);
double NumberSetting(const Embedding& embedding, const std::string& name, double min, double max);
int64_t WholeSetting(const Embedding& embedding, const std::string& name, int64_t min, int64_t max);

// The fitted tensor, contiguous on the CPU, if it has this type and shape; -1
// in `shape` stands for any size.
torch::Tensor Fitted(const Embedding& embedding, const std::string& name, torch::ScalarType type,
                     const std::vector<int64_t>& shape);

// The lines of a fitted tensor of bytes, each ended by \n; and such a tensor.
std::vector<std::string> FittedLines(const Embedding& embedding, const std::string& name);
torch::Tensor Lines(const std::vector<std::string>& lines);

// The file that the settings `file` and `sha256` name, from the first folder
// that holds it whole.
std::filesystem::path NamedFile(const Embedding& embedding,
                                const std::vector<std::filesystem::path>& folders);

// The two settings for a file.
void NameFile(const std::filesystem::path& file, Embedding& embedding);

}  // namespace crossilo

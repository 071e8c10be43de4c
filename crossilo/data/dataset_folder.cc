#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/data/arrays.h"
#include "crossilo/data/dataset.h"
#include "crossilo/data/dataset_toml.h"
#include "crossilo/data/npy.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLabels = "labels", kNpy = ".npy";

// The .npy files right below a folder that begin with `prefix`, by the rest of
// their names; sorted, since folders come in any order.
std::map<std::string, fs::path> NpyFiles(const fs::path& folder, std::string_view prefix) {
  std::map<std::string, fs::path> found;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kNpy) || !name.starts_with(prefix)) continue;
    found[name.substr(prefix.size(), name.size() - prefix.size() - kNpy.size())] = entry.path();
  }
  return found;
}

fs::path LabelFile(const fs::path& folder, const std::string& level) {
  return folder / (std::string(kLabels) + (level.empty() ? "" : "_" + level) + std::string(kNpy));
}

torch::Tensor ReadLabels(const fs::path& path) {
  const Array array = ReadNpy(path);
  if (array.type != Dtype::kU8 && array.type != Dtype::kBool) {
    throw Error("{}: labels must be uint8, not {}; save them with astype('uint8')", path.string(),
                NameOf(array.type));
  }
  return ToTensor(array).to(torch::kByte);
}

torch::Tensor ReadFeatures(const fs::path& path) {
  const Array array = ReadNpy(path);
  if (array.type != Dtype::kF16 && array.type != Dtype::kF32) {
    throw Error("{}: features must be float16 or float32, not {}; save them with {}", path.string(),
                NameOf(array.type), "astype('float32')");
  }
  return ToTensor(array);
}

void ReadEmbeddingFile(const fs::path& path, const std::string& fingerprint, Embedding& embedding) {
  if (fs::exists(path)) {
    const std::string kind = embedding.kind;
    embedding = ReadEmbedding(path);
    if (embedding.kind != kind ||
        (!fingerprint.empty() && embedding.Fingerprint() != fingerprint)) {
      throw Error("{}: is not the embedding that dataset.toml names; make the dataset again",
                  path.string());
    }
  } else if (embedding.kind != "given") {
    throw Error("{}: is missing, but dataset.toml says the features are of kind '{}'",
                path.string(), embedding.kind);
  }
}

void WriteEmbeddingFile(const fs::path& path, const Embedding& embedding) {
  const bool nothing = embedding.settings.empty() && embedding.tensors.empty();
  if (embedding.kind != "given" || !nothing) WriteEmbedding(path, embedding);
}

void WriteRows(const fs::path& path, const Rows& rows) {
  const torch::Tensor numbers = torch::tensor(rows, torch::kLong);
  const bool wide = *std::max_element(rows.begin(), rows.end()) > INT32_MAX;
  WriteTensor(path, wide ? numbers : numbers.to(torch::kInt));
}

// A picture may be named with or without the folder that it is to stand in.
fs::path FindPicture(const fs::path& from, const fs::path& picture) {
  if (fs::is_regular_file(from / picture)) return from / picture;
  const fs::path shorter = picture.lexically_relative("pictures");
  if (fs::is_regular_file(from / shorter)) return from / shorter;
  throw Error("{}: there is no such picture, but items name it", (from / picture).string());
}

void CopyPictures(const fs::path& folder, const Items& items, const fs::path& from) {
  for (size_t row = 0; row < items.rows.size(); ++row) {
    const fs::path picture = items.Cell(static_cast<int64_t>(row), "picture");
    if (picture.empty()) continue;
    fs::create_directories((folder / picture).parent_path());
    // Two samples may show one picture.
    fs::copy_file(FindPicture(from, picture), folder / picture, fs::copy_options::skip_existing);
  }
}

void WriteFolder(const fs::path& folder, const Dataset& dataset, const fs::path& pictures_from) {
  RemoveAll(folder);
  fs::create_directories(folder);
  if (!pictures_from.empty()) CopyPictures(folder, dataset.items, pictures_from);
  WriteTensor(folder / "image.npy", dataset.image);
  WriteTensor(folder / "text.npy", dataset.text);
  for (const auto& [level, labels] : dataset.labels) WriteTensor(LabelFile(folder, level), labels);
  for (const auto& [name, rows] : dataset.splits) {
    WriteRows(folder / "splits" / (name + std::string(kNpy)), rows);
  }
  if (!dataset.items.columns.empty()) WriteItems(folder / "items.tsv", dataset.items);
  WriteEmbeddingFile(folder / "embedding" / "image.safetensors", dataset.image_embedding);
  WriteEmbeddingFile(folder / "embedding" / "text.safetensors", dataset.text_embedding);
  WriteFile(folder / "dataset.toml", DatasetToml(dataset));
}

// Puts `fresh` where `folder` is, in one step where the file system can.
void PutInPlace(const fs::path& fresh, const fs::path& folder) {
  if (!fs::exists(folder)) return fs::rename(fresh, folder);
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
    fs::path old = fresh;
    old += ".old";
    fs::rename(folder, old);
    fs::rename(fresh, folder);
    fs::rename(old, fresh);
  }
  RemoveAll(fresh);  // now the old one
}

}  // namespace

Dataset OpenDataset(const fs::path& folder) {
  if (!fs::exists(folder / "dataset.toml")) {
    throw Error("{}: not a dataset, it has no dataset.toml; make one with crossilo data import",
                folder.string());
  }
  Dataset dataset;
  dataset.image = ReadFeatures(folder / "image.npy");
  dataset.text = ReadFeatures(folder / "text.npy");
  for (const auto& [rest, path] : NpyFiles(folder, kLabels)) {
    if (rest.empty() || rest[0] == '_') {
      dataset.labels[rest.empty() ? "" : rest.substr(1)] = ReadLabels(path);
    }
  }
  for (const auto& [name, path] : NpyFiles(folder / "splits", "")) {
    dataset.splits[name] = ToRows(ReadNpy(path), 0, path.string());
  }
  if (fs::exists(folder / "items.tsv")) dataset.items = ReadItems(folder / "items.tsv");
  const Fingerprints named = ReadDatasetToml(folder / "dataset.toml", dataset);
  ReadEmbeddingFile(folder / "embedding" / "image.safetensors", named.image,
                    dataset.image_embedding);
  ReadEmbeddingFile(folder / "embedding" / "text.safetensors", named.text, dataset.text_embedding);
  Check(dataset, folder.string());
  return dataset;
}

void WriteDataset(const fs::path& folder, const Dataset& dataset, const fs::path& pictures_from) {
  Check(dataset, folder.string());
  const fs::path target = fs::absolute(folder / "").parent_path();  // without a last slash
  if (fs::exists(target) && !fs::exists(target / "dataset.toml") &&
      !(fs::is_directory(target) && fs::is_empty(target))) {
    throw Error("{}: is there already and is no dataset; choose another folder", folder.string());
  }
  const fs::path fresh =
      target.parent_path() / fmt::format(".{}.part-{}", target.filename().string(), ::getpid());
  std::error_code ignored;
  try {
    WriteFolder(fresh, dataset, pictures_from);
    PutInPlace(fresh, target);
  } catch (const fs::filesystem_error& error) {
    RemoveAll(fresh, ignored);
    throw Error("{}: cannot write the dataset: {}; free some space or choose another folder",
                folder.string(), error.code().message());
  } catch (...) {
    RemoveAll(fresh, ignored);
    throw;
  }
}

}  // namespace crossilo

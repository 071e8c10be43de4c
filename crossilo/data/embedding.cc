#include "crossilo/data/embedding.h"

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

constexpr std::string_view kSetting = "setting.";

TensorFile AsFile(const Embedding& embedding) {
  TensorFile file{embedding.tensors, {{"kind", embedding.kind}}};
  for (const auto& [name, value] : embedding.settings) {
    file.metadata[std::string(kSetting) + name] = value;
  }
  return file;
}

}  // namespace

// Equal content gives equal bytes, so this is also the digest of the file.
std::string Embedding::Fingerprint() const { return Sha256(EncodeTensors(AsFile(*this))); }

void WriteEmbedding(const std::filesystem::path& path, const Embedding& embedding) {
  WriteTensors(path, AsFile(embedding));
}

Embedding ReadEmbedding(const std::filesystem::path& path) {
  TensorFile file = ReadTensors(path);
  const auto kind = file.metadata.find("kind");
  if (kind == file.metadata.end()) {
    throw Error("{}: does not say what kind of embedding it is; make the dataset again",
                path.string());
  }
  Embedding embedding{kind->second, {}, std::move(file.tensors)};
  for (const auto& [name, value] : file.metadata) {
    if (name.starts_with(kSetting)) embedding.settings[name.substr(kSetting.size())] = value;
  }
  return embedding;
}

}  // namespace crossilo

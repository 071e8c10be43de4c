#include "crossilo/data/dataset_toml.h"

#include "crossilo/base/config.h"
#include "crossilo/base/error.h"
#include "crossilo/base/lines.h"
#include "crossilo/data/utf8.h"

namespace crossilo {
namespace {

constexpr int64_t kFormat = 1;

// The inside of a TOML basic string.
std::string Escaped(std::string_view text) {
  if (!IsUtf8(text)) throw Error("a text for dataset.toml is not UTF-8: '{}'", text);
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// One key per level, called as its file is.
std::string ClassKey(const std::string& level) {
  return level.empty() ? "labels" : "labels_" + level;
}

std::string EmbeddingTable(const char* side, const Embedding& embedding) {
  return fmt::format("\n[embedding.{}]\nkind = \"{}\"\nfingerprint = \"{}\"\n", side,
                     Escaped(embedding.kind), embedding.Fingerprint());
}

}  // namespace

bool IsPlainName(std::string_view name) {
  for (const char c : name) {
    const bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!known) return false;
  }
  return true;
}

std::string DatasetToml(const Dataset& dataset) {
  std::string out =
      fmt::format("format = {}\nname = \"{}\"\nlicence = \"{}\"\nsource = \"{}\"\n", kFormat,
                  Escaped(dataset.name), Escaped(dataset.licence), Escaped(dataset.source));
  if (!dataset.class_names.empty())
    out += "\n# The classes of each label file, one a line.\n[classes]\n";
  for (const auto& [level, names] : dataset.class_names) {
    out += ClassKey(level) + " = \"\"\"\n";
    for (const std::string& name : names) out += Escaped(name) + "\n";
    out += "\"\"\"\n";
  }
  return out + EmbeddingTable("image", dataset.image_embedding) +
         EmbeddingTable("text", dataset.text_embedding);
}

Fingerprints ReadDatasetToml(const std::filesystem::path& path, Dataset& dataset) {
  const Config config = Config::Load(path);
  const int64_t format = config.Int("format", kFormat, "version of the folder's format", 1);
  if (format > kFormat) {
    throw Error("{}: is of format {}, which a newer Crossilo wrote; update, or import it again",
                path.string(), format);
  }
  dataset.name = config.Text("name", path.parent_path().filename().string(), "the set's name");
  dataset.licence = config.Text("licence", "", "under which others may use it");
  dataset.source = config.Text("source", "", "where it came from");
  const Config classes = config.Table("classes");
  for (const auto& [level, labels] : dataset.labels) {
    const std::string text = classes.Text(ClassKey(level), "", "class names, one a line");
    if (!text.empty()) dataset.class_names[level] = SplitLines(text);
  }
  const Config image = config.Table("embedding.image"), text = config.Table("embedding.text");
  dataset.image_embedding.kind = image.Text("kind", "given", "how features were made");
  dataset.text_embedding.kind = text.Text("kind", "given", "how features were made");
  Fingerprints fingerprints{image.Text("fingerprint", "", "SHA-256 of the embedding"),
                            text.Text("fingerprint", "", "SHA-256 of the embedding")};
  config.Finish();
  return fingerprints;
}

}  // namespace crossilo

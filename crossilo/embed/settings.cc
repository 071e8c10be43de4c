#include "crossilo/embed/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/base/lines.h"

namespace crossilo {

namespace fs = std::filesystem;

std::string Setting(const Embedding& embedding, const std::string& name) {
  const auto found = embedding.settings.find(name);
  if (found == embedding.settings.end()) {
    throw Error("the {} embedding has no setting '{}'; make the dataset or bundle again",
                embedding.kind, name);
  }
  return found->second;
}

double NumberSetting(const Embedding& embedding, const std::string& name, double min, double max) {
  const std::string text = Setting(embedding, name);
  double value = std::nan("");
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() ||
      !(value >= min && value <= max)) {
    throw Error(
        "the {} embedding's setting {} is '{}', not a number from {:g} to {:g}; make the "
        "dataset or bundle again",
        embedding.kind, name, text, min, max);
  }
  return value;
}

int64_t WholeSetting(const Embedding& embedding, const std::string& name, int64_t min,
                     int64_t max) {
  const double value =
      NumberSetting(embedding, name, static_cast<double>(min), static_cast<double>(max));
  if (value != std::floor(value)) {
    throw Error("the {} embedding's setting {} is {}, not a whole number", embedding.kind, name,
                value);
  }
  return static_cast<int64_t>(value);
}

torch::Tensor Fitted(const Embedding& embedding, const std::string& name, torch::ScalarType type,
                     const std::vector<int64_t>& shape) {
  const auto found = embedding.tensors.find(name);
  bool fits = found != embedding.tensors.end() && found->second.scalar_type() == type &&
              found->second.dim() == static_cast<int64_t>(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] < 0 || found->second.size(static_cast<int64_t>(i)) == shape[i];
  }
  if (!fits) {
    throw Error(
        "the {} embedding's tensor '{}' is missing or of the wrong shape; make the dataset "
        "or bundle again",
        embedding.kind, name);
  }
  return found->second.to(torch::kCPU).contiguous();
}

std::vector<std::string> FittedLines(const Embedding& embedding, const std::string& name) {
  const torch::Tensor bytes = Fitted(embedding, name, torch::kByte, {-1});
  const std::string_view text(reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>()),
                              bytes.numel());
  if (text.empty() || text.back() != '\n') {
    throw Error("the {} embedding's tensor '{}' is damaged; make the dataset or bundle again",
                embedding.kind, name);
  }
  return SplitLines(text);
}

torch::Tensor Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  torch::Tensor bytes = torch::empty({static_cast<int64_t>(text.size())}, torch::kByte);
  std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  return bytes;
}

fs::path NamedFile(const Embedding& embedding, const std::vector<fs::path>& folders) {
  const std::string name = Setting(embedding, "file"), wanted = Setting(embedding, "sha256");
  if (fs::path(name).filename() != name) {
    throw Error("the {} embedding names the file '{}'; it must be a name without folders",
                embedding.kind, name);
  }
  std::string other, looked;
  for (const fs::path& folder : folders) {
    if (!looked.empty()) looked += ", ";
    looked += folder.string();
    std::error_code failed;
    fs::path path = folder / name;
    if (!fs::is_regular_file(path, failed)) continue;
    if (Sha256OfFile(path) == wanted) return path;
    other = path.string();
  }
  if (!other.empty()) {
    throw Error("{}: not the file this {} embedding was made with (SHA-256 {}); put that one there",
                other, embedding.kind, wanted);
  }
  throw Error("the {} embedding wants the file {} (SHA-256 {}); put it into one of: {}",
              embedding.kind, name, wanted, looked.empty() ? "(no folder was given)" : looked);
}

void NameFile(const fs::path& file, Embedding& embedding) {
  embedding.settings["file"] = file.filename().string();
  embedding.settings["sha256"] = Sha256OfFile(file);
}

}  // namespace crossilo

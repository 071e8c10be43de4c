#include "crossilo/data/dataset.h"

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/data/dataset_toml.h"
#include "crossilo/data/utf8.h"

namespace crossilo {
namespace {

template <typename Map>
std::string Names(const Map& map) {
  std::string out;
  for (const auto& [name, value] : map) {
    out += fmt::format("{}'{}'", out.empty() ? "" : ", ", name);
  }
  return out.empty() ? "none" : out;
}

// The first row with a NaN or an infinity, or -1.  Goes block by block, so that
// a mapped float16 file is never widened as a whole.
int64_t FirstNotFinite(const torch::Tensor& features) {
  const int64_t n = features.size(0), step = std::max<int64_t>(1, (1 << 20) / features.size(1));
  for (int64_t start = 0; start < n; start += step) {
    const torch::Tensor block =
        features.narrow(0, start, std::min(step, n - start)).to(torch::kFloat);
    // NaN and infinity survive every sum; a sum that overflowed gets a second look.
    if (std::isfinite(block.sum().item<float>())) continue;
    const torch::Tensor bad = torch::isfinite(block).all(1).logical_not().nonzero();
    if (bad.size(0) > 0) return start + bad[0].item<int64_t>();
  }
  return -1;
}

void CheckFeatures(const torch::Tensor& features, int64_t n, const std::string& origin,
                   const char* what) {
  if (!features.defined() || features.dim() != 2 || features.size(1) == 0) {
    throw Error("{}: {} features must be a table, one row a sample", origin, what);
  }
  if (features.scalar_type() != torch::kHalf && features.scalar_type() != torch::kFloat) {
    throw Error("{}: {} features must be float16 or float32; save them with astype('float32')",
                origin, what);
  }
  if (features.size(0) != n) {
    throw Error("{}: {} rows of image features but {} of {}; each pair needs both", origin, n,
                features.size(0), what);
  }
  const int64_t bad = FirstNotFinite(features);
  if (bad >= 0) {
    throw Error("{}: row {} of the {} features has a NaN or an infinity; drop or repair it", origin,
                bad, what);
  }
}

void CheckLabels(const Dataset& dataset, const std::string& origin) {
  for (const auto& [level, labels] : dataset.labels) {
    const std::string where = fmt::format("{}: labels '{}'", origin, level);
    if (!IsPlainName(level)) throw Error("{} need a name of letters, digits, - and _", where);
    if (labels.dim() != 2 || labels.scalar_type() != torch::kByte || labels.size(1) == 0) {
      throw Error("{} must be a uint8 table with a column a class", where);
    }
    if (labels.size(0) != dataset.size()) {
      throw Error("{} have {} rows but there are {} samples", where, labels.size(0),
                  dataset.size());
    }
    if (labels.max().item<int64_t>() > 1) throw Error("{} must be 0 or 1 everywhere", where);
  }
  for (const auto& [level, names] : dataset.class_names) {
    const auto labels = dataset.labels.find(level);
    if (labels == dataset.labels.end() ||
        labels->second.size(1) != static_cast<int64_t>(names.size())) {
      throw Error("{}: {} class names for labels '{}', which have {} classes", origin, names.size(),
                  level, labels == dataset.labels.end() ? 0 : labels->second.size(1));
    }
    for (const std::string& name : names) {
      if (!IsUtf8(name) || name.find('\n') != std::string::npos) {
        throw Error("{}: a class name of labels '{}' is not one line of UTF-8", origin, level);
      }
    }
  }
}

void CheckSplits(const Dataset& dataset, const std::string& origin) {
  for (const auto& [name, rows] : dataset.splits) {
    if (rows.empty()) throw Error("{}: split '{}' is empty", origin, name);
    if (name.empty() || !IsPlainName(name)) {
      throw Error("{}: split '{}' needs a name of letters, digits, - and _", origin, name);
    }
    std::vector<bool> seen(static_cast<size_t>(dataset.size()));
    for (const int64_t row : rows) {
      if (row < 0 || row >= dataset.size()) {
        throw Error("{}: split '{}' names row {} but there are {} samples, numbered from 0", origin,
                    name, row, dataset.size());
      }
      if (seen[static_cast<size_t>(row)]) {
        throw Error("{}: split '{}' names row {} twice", origin, name, row);
      }
      seen[static_cast<size_t>(row)] = true;
    }
  }
}

void CheckItems(const Dataset& dataset, const std::string& origin) {
  const Items& items = dataset.items;
  if (!items.empty() && static_cast<int64_t>(items.rows.size()) != dataset.size()) {
    throw Error("{}: {} rows of items but {} samples", origin, items.rows.size(), dataset.size());
  }
  if (!items.Has("picture")) return;
  for (size_t row = 0; row < items.rows.size(); ++row) {
    // Pictures are shown to people who ask; no other file may be.
    const std::filesystem::path picture = items.Cell(static_cast<int64_t>(row), "picture");
    bool inside = !picture.is_absolute();
    for (const auto& part : picture) inside = inside && part != "..";
    if (!inside) {
      throw Error("{}: the picture of row {} is '{}', which is not below the dataset's folder",
                  origin, row, picture.string());
    }
  }
}

}  // namespace

const torch::Tensor& Dataset::Labels(const std::string& level) const {
  const auto found = labels.find(level);
  if (found == labels.end()) {
    throw Error("dataset '{}' has no labels '{}'; it has {}", name, level, Names(labels));
  }
  return found->second;
}

const Rows& Dataset::Split(const std::string& split) const {
  const auto found = splits.find(split);
  if (found == splits.end()) {
    throw Error("dataset '{}' has no split '{}'; it has {}", name, split, Names(splits));
  }
  return found->second;
}

void Check(const Dataset& dataset, const std::string& origin) {
  if (!dataset.image.defined() || dataset.image.dim() != 2 || dataset.image.size(0) == 0) {
    throw Error("{}: has no samples; image features must be a table, one row a sample", origin);
  }
  CheckFeatures(dataset.image, dataset.size(), origin, "image");
  CheckFeatures(dataset.text, dataset.size(), origin, "text");
  CheckLabels(dataset, origin);
  CheckSplits(dataset, origin);
  CheckItems(dataset, origin);
}

}  // namespace crossilo

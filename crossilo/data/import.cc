#include "crossilo/data/import.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/lines.h"
#include "crossilo/base/random.h"
#include "crossilo/data/arrays.h"
#include "crossilo/data/dataset_toml.h"
#include "crossilo/data/inflate.h"
#include "crossilo/data/items_text.h"

namespace crossilo {
namespace {

struct Named {
  std::string name, place;
};

// "fine=labels.npy"; a name is plain, so a path may have an equals sign too.
Named Split(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || !IsPlainName(text.substr(0, equals))) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

torch::Tensor ReadTable(const std::string& place, bool transpose) {
  torch::Tensor table = ToTensor(ReadArray(place));
  if (table.dim() == 1) table = table.unsqueeze(1);
  if (table.dim() != 2) throw Error("{}: must be a table, one row a sample", place);
  return transpose ? table.t().contiguous() : table;
}

torch::Tensor ReadFeatures(const std::string& place, bool transpose) {
  const torch::Tensor table = ReadTable(place, transpose);
  const bool kept = table.scalar_type() == torch::kHalf || table.scalar_type() == torch::kFloat;
  return kept ? table : table.to(torch::kFloat);
}

// Class numbers from 0, or from 1 where no 0 occurs, as one column a class.
torch::Tensor OneHot(const torch::Tensor& numbers, const std::string& place) {
  const torch::Tensor whole = numbers.flatten().to(torch::kLong);
  if (!torch::equal(whole.to(torch::kDouble), numbers.flatten().to(torch::kDouble))) {
    throw Error("{}: one column of labels must hold class numbers, which are whole", place);
  }
  const int64_t low = whole.min().item<int64_t>(), high = whole.max().item<int64_t>();
  constexpr int64_t kMostClasses = 100000;
  if (low < 0 || high > kMostClasses) {
    throw Error("{}: class numbers must lie between 0 and {}; there are {} to {}", place,
                kMostClasses, low, high);
  }
  const int64_t base = low == 0 ? 0 : 1;
  torch::Tensor labels = torch::zeros({whole.size(0), high - base + 1}, torch::kByte);
  return labels.scatter_(1, (whole - base).unsqueeze(1), 1);
}

torch::Tensor ReadLabels(const std::string& place, bool transpose) {
  torch::Tensor table = ReadTable(place, transpose);
  if (table.numel() == 0) throw Error("{}: holds no labels", place);
  if (table.size(1) == 1) return OneHot(table, place);
  if (!table.eq(0).logical_or(table.eq(1)).all().item<bool>()) {
    throw Error("{}: labels of several columns must be 0 or 1 everywhere", place);
  }
  return table.to(torch::kByte);
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::vector<std::string> lines = SplitLines(ReadFile(path));
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

Items ReadTableOfItems(const ImportOptions& options) {
  Items items = ParseItems(ReadPlainOrGz(options.items), options.items, options.escapes);
  if (options.caption.empty() || options.caption == "caption") return items;
  const auto found = std::find(items.columns.begin(), items.columns.end(), options.caption);
  if (found == items.columns.end() || items.Has("caption")) {
    throw Error("{}: cannot take '{}' as the caption; the columns are {}", options.items,
                options.caption, fmt::join(items.columns, ", "));
  }
  *found = "caption";
  return items;
}

Rows ReadSplit(const std::string& place, int64_t index_base) {
  if (index_base < 0) index_base = KindOf(place) == ".mat" ? 1 : 0;
  return ToRows(ReadArray(place), index_base, place);
}

Rows NotIn(int64_t n, const std::vector<const Rows*>& given) {
  std::vector<bool> taken(static_cast<size_t>(n));
  for (const Rows* rows : given) {
    for (const int64_t row : *rows) {
      if (row >= 0 && row < n) taken[static_cast<size_t>(row)] = true;
    }
  }
  Rows rest;
  for (int64_t row = 0; row < n; ++row) {
    if (!taken[static_cast<size_t>(row)]) rest.push_back(row);
  }
  return rest;
}

}  // namespace

void CompleteSplits(int64_t n, uint64_t seed, std::map<std::string, Rows>& splits) {
  const auto given = [&](const char* name) { return splits.find(name) != splits.end(); };
  if (!given("query")) {
    std::vector<const Rows*> others;
    for (const auto& [name, rows] : splits) others.push_back(&rows);
    Rows query = NotIn(n, others);
    if (others.empty()) {
      query = Random(seed, {}, "import query").Permutation(n);
      query.resize(static_cast<size_t>(std::min(n, std::max<int64_t>(1, n / 5))));
      std::sort(query.begin(), query.end());
    }
    if (query.empty())
      throw Error("the splits leave no sample to ask with; give a query split too");
    splits["query"] = std::move(query);
  }
  if (!given("retrieval")) splits["retrieval"] = NotIn(n, {&splits["query"]});
  if (!given("training")) splits["training"] = splits["retrieval"];
}

Dataset ImportArrays(const ImportOptions& options) {
  Dataset dataset;
  dataset.name = options.name;
  dataset.licence = options.licence;
  dataset.source = options.source;
  dataset.image = ReadFeatures(options.image, options.transpose);
  dataset.text = ReadFeatures(options.text, options.transpose);
  if (dataset.image.size(0) != dataset.text.size(0)) {
    throw Error("{} has {} rows but {} has {}; each pair needs both{}", options.image,
                dataset.image.size(0), options.text, dataset.text.size(0),
                dataset.image.size(1) == dataset.text.size(1)
                    ? " (the columns match: do the arrays hold one sample a column?)"
                    : "");
  }
  for (const std::string& text : options.labels) {
    const Named named = Split(text);
    dataset.labels[named.name] = ReadLabels(named.place, options.transpose);
  }
  for (const std::string& text : options.classes) {
    const Named named = Split(text);
    dataset.class_names[named.name] = ReadLines(named.place);
  }
  for (const std::string& text : options.splits) {
    const Named named = Split(text);
    if (named.name.empty()) throw Error("{}: write a split as query=file", text);
    dataset.splits[named.name] = ReadSplit(named.place, options.index_base);
  }
  CompleteSplits(dataset.size(), options.seed, dataset.splits);
  if (!options.items.empty()) dataset.items = ReadTableOfItems(options);
  Check(dataset, options.image);
  return dataset;
}

}  // namespace crossilo

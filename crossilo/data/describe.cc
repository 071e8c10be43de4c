#include "crossilo/data/describe.h"

#include <algorithm>
#include <cmath>

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

std::string TypeName(const torch::Tensor& features) {
  switch (features.scalar_type()) {
    case torch::kHalf:
      return "float16";
    case torch::kFloat:
      return "float32";
    default:
      return c10::toString(features.scalar_type());
  }
}

std::vector<std::string> ClassNames(const Dataset& dataset, const std::string& level, int64_t n) {
  const auto found = dataset.class_names.find(level);
  if (found != dataset.class_names.end() && static_cast<int64_t>(found->second.size()) == n) {
    return found->second;
  }
  std::vector<std::string> numbers;
  for (int64_t c = 1; c <= n; ++c) numbers.push_back(std::to_string(c));
  return numbers;
}

void AddRow(const std::string& name, const Rows& rows, const torch::Tensor& labels,
            Description& out) {
  out.rows.push_back(name);
  out.totals.push_back(static_cast<int64_t>(rows.size()));
  if (!labels.defined()) return;
  const torch::Tensor sums =
      (labels.index_select(0, IndexTensor(rows)) != 0).sum(0, false, torch::kLong);
  const int64_t* at = sums.data_ptr<int64_t>();
  out.counts.emplace_back(at, at + sums.numel());
  int64_t present = 0;
  for (int64_t count : out.counts.back()) present += count > 0;
  out.present.push_back(present);
}

double Imbalance(const std::vector<std::vector<int64_t>>& counts) {
  if (counts.empty()) return 0;
  std::vector<double> pooled(counts[0].size());
  double all = 0, distance = 0;
  int silos = 0;
  for (const auto& row : counts) {
    for (size_t c = 0; c < row.size(); ++c) {
      pooled[c] += static_cast<double>(row[c]);
      all += static_cast<double>(row[c]);
    }
  }
  for (const auto& row : counts) {
    double sum = 0, apart = 0;
    for (int64_t count : row) sum += static_cast<double>(count);
    if (sum == 0) continue;  // no labels, no mix
    for (size_t c = 0; c < row.size(); ++c) {
      apart += std::abs(static_cast<double>(row[c]) / sum - pooled[c] / all);
    }
    distance += apart / 2;
    ++silos;
  }
  return silos == 0 ? 0 : distance / silos;
}

}  // namespace

Description Describe(const Dataset& dataset, const Partition* partition, const std::string& level) {
  Description out;
  out.name = dataset.name;
  out.licence = dataset.licence;
  out.source = dataset.source;
  out.samples = dataset.size();
  out.image_dims = dataset.image.size(1);
  out.text_dims = dataset.text.size(1);
  out.image_type = TypeName(dataset.image);
  out.text_type = TypeName(dataset.text);
  out.level = level;
  for (const auto& [name, rows] : dataset.splits) {
    out.splits[name] = static_cast<int64_t>(rows.size());
  }
  for (const auto& [name, labels] : dataset.labels) out.levels[name] = labels.size(1);

  torch::Tensor labels;
  if (!dataset.labels.empty()) {
    labels = dataset.Labels(level);
    out.classes = ClassNames(dataset, level, labels.size(1));
    out.labels_per_sample =
        (labels != 0).sum().item<double>() / static_cast<double>(std::max<int64_t>(1, out.samples));
  }
  if (partition != nullptr) {
    out.row_word = "silo";
    for (int i = 0; i < partition->silos(); ++i) {
      AddRow(partition->names[i], partition->training[i], labels, out);
    }
    out.imbalance = Imbalance(out.counts);
  } else {
    out.row_word = "split";
    for (const auto& [name, rows] : dataset.splits) AddRow(name, rows, labels, out);
  }
  return out;
}

}  // namespace crossilo

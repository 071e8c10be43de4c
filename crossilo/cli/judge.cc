#include "crossilo/cli/judge.h"

#include "crossilo/base/error.h"
#include "crossilo/models/encode.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

std::span<const float> Floats(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

Relevance RelevanceOf(const Dataset& dataset, const std::string& level, const JudgedRows& rows) {
  if (dataset.labels.empty()) return Relevance::FromPairs(rows.query, rows.retrieval);
  const torch::Tensor& labels = dataset.Labels(level);
  const torch::Tensor query = labels.index_select(0, IndexTensor(rows.query)).contiguous();
  const torch::Tensor retrieval = labels.index_select(0, IndexTensor(rows.retrieval)).contiguous();
  const auto bytes = [](const torch::Tensor& t) {
    return std::span<const uint8_t>(t.data_ptr<uint8_t>(), static_cast<size_t>(t.numel()));
  };
  return Relevance::FromLabels(bytes(query), bytes(retrieval), labels.size(1));
}

void AddTo(std::vector<double>& sum, const std::vector<double>& x) {
  sum.resize(std::max(sum.size(), x.size()));
  for (size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
}

void AddTo(std::map<int, double>& sum, const std::map<int, double>& x) {
  for (const auto& [n, value] : x) sum[n] += value;
}

Report MeanOfReports(const std::vector<const Report*>& reports) {
  Report mean;
  for (const Report* r : reports) {
    mean.queries += r->queries;
    mean.queries_without_relevant += r->queries_without_relevant;
    mean.map += r->map;
    mean.tie_aware_map += r->tie_aware_map;
    mean.chance += r->chance;
    AddTo(mean.map_at, r->map_at);
    AddTo(mean.ndcg_at, r->ndcg_at);
    AddTo(mean.precision_at, r->precision_at);
    AddTo(mean.recall_at, r->recall_at);
    AddTo(mean.precision_at_recall, r->precision_at_recall);
    AddTo(mean.radius_precision, r->radius_precision);
    AddTo(mean.radius_recall, r->radius_recall);
  }
  const auto n = static_cast<double>(reports.size());
  for (double* x : {&mean.map, &mean.tie_aware_map, &mean.chance}) *x /= n;
  for (auto* by : {&mean.map_at, &mean.ndcg_at, &mean.precision_at, &mean.recall_at}) {
    for (auto& [cutoff, value] : *by) value /= n;
  }
  for (auto* curve : {&mean.precision_at_recall, &mean.radius_precision, &mean.radius_recall}) {
    for (double& x : *curve) x /= n;
  }
  return mean;
}

}  // namespace

Scores Judge(const HashModel& model, bool real_valued, const Dataset& dataset,
             const std::string& level, const JudgedRows& rows, const EvaluateOptions& options) {
  const auto encode = [&](Modality m, const Rows& some) {
    return EncodeRows(model, m, m == Modality::kImage ? dataset.image : dataset.text, some);
  };
  const torch::Tensor qi = encode(Modality::kImage, rows.query);
  const torch::Tensor qt = encode(Modality::kText, rows.query);
  const torch::Tensor di = encode(Modality::kImage, rows.retrieval);
  const torch::Tensor dt = encode(Modality::kText, rows.retrieval);
  const Relevance relevance = RelevanceOf(dataset, level, rows);
  const auto rank = [&](const torch::Tensor& queries, const torch::Tensor& database) {
    if (real_valued) {
      return EvaluateCosine(Floats(queries), Floats(database), model.code_dims(), relevance,
                            options);
    }
    return Evaluate(Binarize(queries), Binarize(database), relevance, options);
  };
  return {rank(qi, dt), rank(qt, di)};
}

Scores MeanOf(const std::vector<Scores>& scores) {
  if (scores.empty()) throw Error("no silo has both queries and something to retrieve");
  std::vector<const Report*> i2t, t2i;
  for (const Scores& s : scores) {
    i2t.push_back(&s.i2t);
    t2i.push_back(&s.t2i);
  }
  return {MeanOfReports(i2t), MeanOfReports(t2i)};
}

}  // namespace crossilo

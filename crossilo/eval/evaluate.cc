#include "crossilo/eval/evaluate.h"

#include <algorithm>
#include <limits>

#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/codes/cosine.h"
#include "crossilo/codes/hamming.h"
#include "crossilo/eval/ranking.h"
#include "crossilo/eval/scorer.h"

namespace crossilo {
namespace {

Report Run(int64_t queries, const Relevance& relevance, const EvaluateOptions& options,
           size_t radii, const Rank& rank) {
  const Scorer scorer(relevance, options, radii);
  const size_t width = scorer.width();
  const int workers = Workers(options.threads);
  std::vector<Desk> desks(workers);
  // Rows are added up in the order of the queries, a batch at a time, so the
  // sum does not depend on the threads and the memory not on the queries.
  constexpr int64_t kBatch = 1024;
  std::vector<double> rows, sum(width);
  int64_t empty = 0;
  for (int64_t start = 0; start < queries; start += kBatch) {
    const int64_t count = std::min(kBatch, queries - start);
    rows.assign(count * width, 0);
    ForEach(count, workers, [&](int64_t i, int worker) {
      scorer.Score(start + i, rank, desks[worker], std::span(rows).subspan(i * width, width));
    });
    for (int64_t i = 0; i < count; ++i) {
      if (rows[i * width] == 0) ++empty;  // an AP is 0 only without a relevant item
      for (size_t j = 0; j < width; ++j) sum[j] += rows[i * width + j];
    }
  }
  const int64_t counted = options.empty_queries == EmptyQueries::kDrop ? queries - empty : queries;
  for (double& value : sum) value /= static_cast<double>(std::max<int64_t>(counted, 1));
  Report report = scorer.ReportOf(sum);
  report.queries = queries;
  report.queries_without_relevant = empty;
  return report;
}

void CheckSizes(int64_t queries, int64_t database, const Relevance& relevance,
                const EvaluateOptions& options) {
  if (queries != relevance.queries() || database != relevance.database()) {
    throw Error(
        "{} queries against {} items, but labels or pairs of {} queries and {} items; give those "
        "of the same rows",
        queries, database, relevance.queries(), relevance.database());
  }
  if (database > std::numeric_limits<int32_t>::max()) {
    throw Error("a database of {} items; up to 2147483647 can be ranked", database);
  }
  for (int n : options.cutoffs) {
    if (n < 1) throw Error("cut-off {}; a cut-off must be 1 or more", n);
  }
}

}  // namespace

Report Evaluate(const PackedCodes& queries, const PackedCodes& database, const Relevance& relevance,
                const EvaluateOptions& options) {
  CheckSizes(queries.size(), database.size(), relevance, options);
  if (queries.bits() != database.bits()) {
    throw Error("queries of {} bits against a database of {}; encode both with one model",
                queries.bits(), database.bits());
  }
  const auto rank = [&](int64_t query, uint32_t top, Desk& desk) {
    desk.distances.resize(database.size());
    HammingDistances(queries.Code(query).data(), database.words().data(), database.size(),
                     database.words_per_code(), desk.distances.data());
    RankByDistance(desk.distances, desk.relevant, database.bits(), top, desk.ranking);
  };
  return Run(queries.size(), relevance, options, database.bits() + 1, rank);
}

Report EvaluateCosine(std::span<const float> queries, std::span<const float> database, int64_t dim,
                      const Relevance& relevance, const EvaluateOptions& options) {
  const std::vector<float> from = UnitRows(queries, dim), to = UnitRows(database, dim);
  const int64_t count = from.size() / dim, size = to.size() / dim;
  CheckSizes(count, size, relevance, options);
  const auto rank = [&](int64_t query, uint32_t top, Desk& desk) {
    desk.cosines.resize(size);
    DotProducts(&from[query * dim], to.data(), size, dim, desk.cosines.data());
    RankByCosine(desk.cosines, desk.relevant, top, desk.keys, desk.ranking);
  };
  return Run(count, relevance, options, 0, rank);
}

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "crossilo/eval/evaluate.h"
#include "crossilo/eval/ranking.h"

namespace crossilo {

// A worker's memory, used again for each of its queries.
struct Desk {
  std::vector<uint8_t> relevant;
  std::vector<uint16_t> distances, gains;
  std::vector<float> cosines;
  std::vector<uint64_t> keys;
  Ranking ranking;
};

// Fills desk.ranking, with `top` rows, for a query whose relevant items
// desk.relevant marks.
using Rank = std::function<void(int64_t query, uint32_t top, Desk& desk)>;

// What one query scores, as numbers in a row, so that a mean over queries is a
// mean of rows: map, tie_aware_map, chance, then for each cut-off map, ndcg,
// precision, recall, then the curve over recall and the two over radii.
class Scorer {
 public:
  // radii: bits + 1, or 0 where the ranking is not by distance.  The
  // references are to outlive the scorer.
  Scorer(const Relevance& relevance, const EvaluateOptions& options, size_t radii);

  size_t width() const;

  // Writes a row of zeros, given zeros, where nothing is relevant.  Safe to
  // call from many threads, each with its desk.
  void Score(int64_t query, const Rank& rank, Desk& desk, std::span<double> row) const;

  // The report whose numbers are those of a row.
  Report ReportOf(std::span<const double> row) const;

 private:
  void ScoreAt(int n, const Ranking& ranking, std::span<const uint16_t> gains,
               std::span<const uint16_t> ideal, std::span<double> row) const;
  double BinaryNdcg(int n, std::span<const uint32_t> within, size_t relevant) const;
  double SharedNdcg(int n, std::span<const uint32_t> top, std::span<const uint16_t> gains,
                    std::span<const uint16_t> ideal) const;
  void ScoreRadii(const Ranking& ranking, std::span<double> row) const;

  const Relevance& relevance_;
  const EvaluateOptions& options_;
  size_t radii_;
  int deepest_ = 0;  // the largest cut-off
  std::vector<double> inverses_, discounts_;
  double harmonic_;  // the sum of the inverses
};

}  // namespace crossilo

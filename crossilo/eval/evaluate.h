#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/codes/packed_codes.h"
#include "crossilo/eval/relevance.h"
#include "crossilo/eval/report.h"

namespace crossilo {

// What a query with nothing relevant in the whole database does to the means:
// it counts as 0 (the DCMH family of papers) or is left out (UCCH).
enum class EmptyQueries { kCountAsZero, kDrop };

// What an item is worth in NDCG: 1 if relevant, or the number of labels it
// shares with the query.
enum class Gain { kBinary, kSharedLabels };

struct EvaluateOptions {
  std::vector<int> cutoffs = {10, 20, 30, 50, 100};  // N of the measures @N; each > 0
  EmptyQueries empty_queries = EmptyQueries::kCountAsZero;
  Gain gain = Gain::kBinary;
  int threads = 0;  // 0: one a core.  The report is the same to the last bit for any number.
};

// Ranks the database for every query by Hamming distance.  Throws Error where
// the sizes do not match those of `relevance`.
Report Evaluate(const PackedCodes& queries, const PackedCodes& database, const Relevance& relevance,
                const EvaluateOptions& options = {});

// Ranks by decreasing cosine, for real-valued models: rows of length dim.  A
// zero row has cosine 0 to everything.  Throws Error also where a value is not
// finite.
Report EvaluateCosine(std::span<const float> queries, std::span<const float> database, int64_t dim,
                      const Relevance& relevance, const EvaluateOptions& options = {});

}  // namespace crossilo

#include "crossilo/index/costs.h"

#include <algorithm>
#include <cmath>

namespace crossilo {
namespace {

// How many of `rows` in any order are among the k nearest so far when their
// turn comes: the i-th with probability k / i.
double Offers(double k, double rows) {
  return rows <= k ? rows : k * (1 + std::log(rows / std::max(1.0, k)));
}

// Asking the filter about a code's slots, until k are found.
double FilterNs(double slots, const SearchShape& shape) {
  return shape.share < 1 ? kSlotNs * std::min(slots, shape.k / shape.share) : 0;
}

}  // namespace

double CandidatesNs(int64_t rows, int64_t row_bytes) {
  return static_cast<double>(rows) * kCandidateNs * static_cast<double>(row_bytes) / 8;
}

double FoundNs(double slots, const SearchShape& shape) {
  // The first slot is somewhere else again.
  return kFoundNs + (shape.share < 1 ? kFoundNs : 0) + FilterNs(slots, shape);
}

double ScanNs(int64_t rows, int64_t row_bytes, const SearchShape& shape) {
  // What stays in a last-level cache that others use as well.
  constexpr int64_t kCacheBytes = 16 << 20;
  const double words = static_cast<double>(rows) * static_cast<double>(row_bytes) / 8;
  const auto queries = static_cast<double>(shape.queries);
  double time = words * (row_bytes > 32 ? kLongRowNs : kRowNs);
  if (rows * row_bytes > kCacheBytes) {
    // Memory is read once for all queries of a thread.
    time += words * kStreamedNs / std::max(1.0, queries / shape.threads);
  }
  // Queries are dealt to threads, or, where they are too few, the rows.
  return time / std::max(1.0, shape.threads / queries);
}

double FlatNs(int64_t size, int64_t row_bytes, const SearchShape& shape) {
  const auto queries = static_cast<double>(shape.queries), n = static_cast<double>(size);
  const double start = kFlatNs / queries;
  // What is let through is copied together where that is less work (blocks.h).
  if (64 * shape.share >= std::min(queries, 32.0)) {
    return start + ScanNs(size, row_bytes, shape) + kOfferNs * Offers(shape.k / shape.share, n);
  }
  const double rows = shape.share * n;
  return start + ScanNs(static_cast<int64_t>(rows), row_bytes, shape) + rows * kGatherNs / queries +
         kOfferNs * Offers(shape.k, rows);
}

double CompareNs(int64_t size, int64_t distinct, int64_t row_bytes, const SearchShape& shape) {
  const auto rows = static_cast<double>(std::max<int64_t>(1, distinct));
  const double slots = static_cast<double>(size) / rows;
  const double k = shape.k / (shape.share * slots);  // codes that have k slots together
  return kLookupsNs / static_cast<double>(shape.queries) + kQueryNs +
         ScanNs(distinct, row_bytes, shape) + (kTakenNs + FilterNs(slots, shape)) * Offers(k, rows);
}

}  // namespace crossilo

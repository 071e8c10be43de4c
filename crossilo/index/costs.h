#pragma once

#include <cstdint>

namespace crossilo {

// What a search costs, in nanoseconds of one core, as `bench_index_auto costs`
// measured it on a Zen 4 server with AVX-512.  Only their ratios decide, and
// those differ less between processors than the times.
inline constexpr double kBucketNs = 70;       // looking up a bucket, wherever it lies
inline constexpr double kFirstKeysNs = 2000;  // what the first ones take more, in cold memory
inline constexpr double kCandidateNs = 2;     // a row of 8 bytes in it
inline constexpr double kFoundNs = 50;        // one of them that is among the k nearest so far
inline constexpr double kRowNs = 0.07;        // a row of 8 bytes in a scan, in the cache
inline constexpr double kLongRowNs = 0.18;    // and 8 bytes of one above 32, without its own kernel
inline constexpr double kStreamedNs = 0.3;    // more for 8 bytes that come from memory
inline constexpr double kTakenNs = 10;        // one of the distinct codes that is near so far
inline constexpr double kOfferNs = 3;         // one of all codes
inline constexpr double kSlotNs = 2;          // asking a filter about a slot
inline constexpr double kGatherNs = 8;        // a row that a filter lets through, by itself
inline constexpr double kLookupsNs = 1000;    // a search in tables, before the first query
inline constexpr double kQueryNs = 800;       // a query in tables, before the first code
inline constexpr double kFlatNs = 5000;       // a flat scan, before the first row

// Of one search: so many queries at once, with so many threads, for the k
// nearest of a share of all slots, 1 without a filter.
struct SearchShape {
  int64_t queries = 1;
  int threads = 1;
  double k = 10;
  double share = 1;
};

// Comparing one of the queries with this many rows.
double ScanNs(int64_t rows, int64_t row_bytes, const SearchShape& shape);

// Answering it by the flat index.
double FlatNs(int64_t size, int64_t row_bytes, const SearchShape& shape);

// Answering it by comparing the distinct ones of so many codes.
double CompareNs(int64_t size, int64_t distinct, int64_t row_bytes, const SearchShape& shape);

// Taking in a distinct code that a lookup found; `slots` is how many it has.
double FoundNs(double slots, const SearchShape& shape);

// Comparing a query with the rows of buckets.
double CandidatesNs(int64_t rows, int64_t row_bytes);

}  // namespace crossilo

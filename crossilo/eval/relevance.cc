#include "crossilo/eval/relevance.h"

#include <bit>
#include <limits>
#include <string_view>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

int64_t RowsOf(std::span<const uint8_t> labels, int64_t classes, std::string_view whose) {
  if (classes < 1 || classes > std::numeric_limits<uint16_t>::max()) {
    throw Error("labels of {} classes; from 1 to 65535 can be compared", classes);
  }
  if (labels.size() % classes != 0) {
    throw Error("{} label values of the {} are no whole rows of {} classes", labels.size(), whose,
                classes);
  }
  return static_cast<int64_t>(labels.size() / classes);
}

std::vector<uint64_t> PackLabels(std::span<const uint8_t> labels, int64_t classes) {
  const int64_t words = (classes + 63) / 64, rows = labels.size() / classes;
  std::vector<uint64_t> packed(rows * words);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < classes; ++c) {
      if (labels[i * classes + c] != 0) packed[i * words + c / 64] |= uint64_t{1} << (c % 64);
    }
  }
  return packed;
}

}  // namespace

Relevance Relevance::FromLabels(std::span<const uint8_t> queries, std::span<const uint8_t> database,
                                int64_t classes) {
  Relevance relevance(RowsOf(queries, classes, "queries"), RowsOf(database, classes, "database"),
                      (classes + 63) / 64, false);
  relevance.query_words_ = PackLabels(queries, classes);
  relevance.database_words_ = PackLabels(database, classes);
  return relevance;
}

Relevance Relevance::FromPairs(std::span<const int64_t> queries,
                               std::span<const int64_t> database) {
  Relevance relevance(queries.size(), database.size(), 1, true);
  relevance.query_words_.assign(queries.begin(), queries.end());
  relevance.database_words_.assign(database.begin(), database.end());
  return relevance;
}

void Relevance::Mark(int64_t query, std::span<uint8_t> relevant) const {
  const uint64_t* mine = &query_words_[query * words_];
  const uint64_t* theirs = database_words_.data();
  const int64_t n = database_;
  if (by_pairs_) {
    for (int64_t i = 0; i < n; ++i) relevant[i] = theirs[i] == *mine;
  } else if (words_ == 1) {
    for (int64_t i = 0; i < n; ++i) relevant[i] = (theirs[i] & *mine) != 0;
  } else {
    for (int64_t i = 0; i < n; ++i, theirs += words_) {
      uint64_t shared = 0;
      for (int64_t w = 0; w < words_; ++w) shared |= theirs[w] & mine[w];
      relevant[i] = shared != 0;
    }
  }
}

void Relevance::Gains(int64_t query, std::span<uint16_t> gains) const {
  const uint64_t* mine = &query_words_[query * words_];
  const uint64_t* theirs = database_words_.data();
  for (int64_t i = 0; i < database_; ++i, theirs += words_) {
    int shared = 0;
    if (by_pairs_) {
      shared = *theirs == *mine;
    } else {
      for (int64_t w = 0; w < words_; ++w) shared += std::popcount(theirs[w] & mine[w]);
    }
    gains[i] = static_cast<uint16_t>(shared);
  }
}

}  // namespace crossilo

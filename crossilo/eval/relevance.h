#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

// Who is relevant to whom.
class Relevance {
 public:
  // Two samples are relevant to each other where they share at least one
  // label.  Multi-hot rows of `classes` bytes; any value but 0 is a label.
  // Throws Error where a span is no whole number of rows.
  static Relevance FromLabels(std::span<const uint8_t> queries, std::span<const uint8_t> database,
                              int64_t classes);

  // Two samples are relevant to each other where they come from the same
  // pair: for data without labels.
  static Relevance FromPairs(std::span<const int64_t> queries, std::span<const int64_t> database);

  int64_t queries() const { return queries_; }
  int64_t database() const { return database_; }
  bool by_pairs() const { return by_pairs_; }

  // relevant[i] = 1 where item i is relevant to the query, else 0; one byte an
  // item.  Safe to call from many threads, as is Gains.
  void Mark(int64_t query, std::span<uint8_t> relevant) const;

  // gains[i] = number of labels shared with item i; by pairs 1 or 0.
  void Gains(int64_t query, std::span<uint16_t> gains) const;

 private:
  Relevance(int64_t queries, int64_t database, int64_t words, bool by_pairs)
      : queries_(queries), database_(database), words_(words), by_pairs_(by_pairs) {}

  int64_t queries_, database_;
  int64_t words_;  // a sample: its labels as bits, or its pair's id
  bool by_pairs_;
  std::vector<uint64_t> query_words_, database_words_;
};

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace crossilo {

// How well queries found what is relevant to them: means over the queries that
// count.  Rankings are nearest first, equally near items in database order.
struct Report {
  int64_t queries = 0;                   // asked
  int64_t queries_without_relevant = 0;  // of them, with nothing relevant in the whole database

  double map = 0;            // mean AP over the whole ranking (mAP@all)
  double tie_aware_map = 0;  // the mean over all orders of equally near items
  double chance = 0;         // the mean AP of a random order

  // By cut-off N.
  std::map<int, double> map_at;        // AP of the first N; divisor: hits within N; 0 without one
  std::map<int, double> ndcg_at;       // DCG@N / the best DCG@N of any order
  std::map<int, double> precision_at;  // hits within N / N, even of a smaller database
  // By labels: hits within N / all relevant items.  By pairs: 1 if there is a
  // hit within N, so the mean is the share of queries answered.
  std::map<int, double> recall_at;

  // Interpolated precision at recall 0, 0.01, ..., 1 (101 values; every tenth
  // is the eleven-point curve): the best precision at that recall or above.
  std::vector<double> precision_at_recall;

  // Looking up everything within Hamming radius 0, 1, ..., bits; empty where
  // the ranking was by cosine.  A query that finds nothing has precision 0.
  std::vector<double> radius_precision;
  std::vector<double> radius_recall;

  bool operator==(const Report&) const = default;
};

}  // namespace crossilo

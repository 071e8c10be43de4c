// The judge of the evaluator: written from the definitions, one query at a
// time, with a stable sort and no histogram.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "crossilo/base/random.h"
#include "crossilo/eval/evaluate.h"

namespace crossilo {
namespace {

struct Case {
  int queries, items, classes, bits;
  std::vector<std::vector<int>> query_labels, item_labels;  // 0/1
  std::vector<std::vector<int>> query_values, item_values;  // bits 0/1, or -1/0/1 for cosine
  bool by_pairs;                                            // label 0's value is the pair's id
};

int SharedLabels(const Case& c, int query, int item) {
  if (c.by_pairs) return c.query_labels[query][0] == c.item_labels[item][0];
  return std::inner_product(c.query_labels[query].begin(), c.query_labels[query].end(),
                            c.item_labels[item].begin(), 0);
}

int Distance(const Case& c, int query, int item) {
  int distance = 0;
  for (int b = 0; b < c.bits; ++b) distance += c.query_values[query][b] != c.item_values[item][b];
  return distance;
}

// Nearer comes first.  For cosines of whole numbers exactly: cos = dot / (|q| |x|), so compare
// sign(dot) dot^2 / |x|^2 by cross-multiplication; a zero vector has dot 0, and 0 / 1.
using Nearer = std::function<bool(int a, int b)>;

Nearer ByDistance(const Case& c, int query) {
  return [&c, query](int a, int b) { return Distance(c, query, a) < Distance(c, query, b); };
}

Nearer ByCosine(const Case& c, int query) {
  return [&c, query](int a, int b) {
    const auto parts = [&](int item) {
      const auto &q = c.query_values[query], &x = c.item_values[item];
      const int dot = std::inner_product(q.begin(), q.end(), x.begin(), 0);
      const int square = std::inner_product(x.begin(), x.end(), x.begin(), 0);
      return std::pair(dot * std::abs(dot), std::max(square, 1));
    };
    const auto [na, da] = parts(a);
    const auto [nb, db] = parts(b);
    return na * db > nb * da;
  };
}

double ApOf(const std::vector<int>& hit, size_t depth) {
  double sum = 0;
  int hits = 0;
  for (size_t r = 1; r <= std::min(depth, hit.size()); ++r) {
    if (!hit[r - 1]) continue;
    sum += double(++hits) / double(r);
  }
  return hits == 0 ? 0 : sum / hits;
}

double Dcg(const std::vector<int>& gains, int n) {
  double sum = 0;
  for (int j = 1; j <= std::min<int>(n, static_cast<int>(gains.size())); ++j) {
    sum += gains[j - 1] / std::log2(j + 1.0);
  }
  return sum;
}

// E[AP] place by place: R E[AP] = sum over places k of P(k is a hit) / k times
// (1 + the expected hits before k, given that k is one).
double ExpectedAp(const std::vector<int>& hit, const std::vector<int>& group) {
  double sum = 0, all = 0;
  for (size_t k = 0; k < hit.size(); ++k) {
    double t = 0, r = 0, before_hits = 0, before_same = 0;
    for (size_t j = 0; j < hit.size(); ++j) {
      t += group[j] == group[k];
      r += group[j] == group[k] && hit[j];
      before_hits += group[j] < group[k] && hit[j];
      before_same += group[j] == group[k] && j < k;
    }
    all += hit[k];
    const double others = t > 1 ? before_same * (r - 1) / (t - 1) : 0;
    sum += r / t * (1 + before_hits + others) / double(k + 1);
  }
  return all == 0 ? 0 : sum / all;
}

// Adds one query's scores to the sums in `report`; false where nothing is relevant.
bool AddQuery(const Case& c, int query, const Nearer& nearer, bool radii,
              const EvaluateOptions& options, Report& report) {
  std::vector<int> order(c.items);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), nearer);
  std::vector<int> hit, gains, group;
  for (int r = 0; r < c.items; ++r) {
    const int shared = SharedLabels(c, query, order[r]);
    hit.push_back(shared > 0);
    gains.push_back(options.gain == Gain::kBinary ? shared > 0 : shared);
    group.push_back(r == 0 ? 0 : group.back() + nearer(order[r - 1], order[r]));
  }
  const int relevant = std::accumulate(hit.begin(), hit.end(), 0);
  if (relevant == 0) return false;

  report.map += ApOf(hit, hit.size());
  report.tie_aware_map += ExpectedAp(hit, group);
  report.chance += ExpectedAp(hit, std::vector<int>(hit.size(), 0));
  std::vector<int> ideal = gains;
  std::sort(ideal.rbegin(), ideal.rend());
  for (int n : options.cutoffs) {
    const int found = std::accumulate(hit.begin(), hit.begin() + std::min(n, c.items), 0);
    report.map_at[n] += ApOf(hit, n);
    report.ndcg_at[n] += Dcg(gains, n) / Dcg(ideal, n);
    report.precision_at[n] += double(found) / n;
    report.recall_at[n] += c.by_pairs ? found > 0 : double(found) / relevant;
  }
  for (int level = 0; level <= 100; ++level) {
    double best = 0;
    int hits = 0;
    for (int r = 1; r <= c.items; ++r) {
      hits += hit[r - 1];
      if (hits * 100 >= level * relevant) best = std::max(best, double(hits) / r);
    }
    report.precision_at_recall[level] += best;
  }
  for (int radius = 0; radii && radius <= c.bits; ++radius) {
    int found = 0, hits = 0;
    for (int item = 0; item < c.items; ++item) {
      if (Distance(c, query, item) > radius) continue;
      ++found;
      hits += SharedLabels(c, query, item) > 0;
    }
    report.radius_precision[radius] += found == 0 ? 0 : double(hits) / found;
    report.radius_recall[radius] += double(hits) / relevant;
  }
  return true;
}

// Calls visit(a, b) for every pair of matching numbers of two reports.
template <typename Left, typename Visit>
void ForEachNumber(Left& a, const Report& b, const Visit& visit) {
  visit(a.map, b.map);
  visit(a.tie_aware_map, b.tie_aware_map);
  visit(a.chance, b.chance);
  for (auto member :
       {&Report::map_at, &Report::ndcg_at, &Report::precision_at, &Report::recall_at}) {
    ASSERT_EQ((a.*member).size(), (b.*member).size());
    for (auto& [n, value] : a.*member) visit(value, (b.*member).at(n));
  }
  for (auto member :
       {&Report::precision_at_recall, &Report::radius_precision, &Report::radius_recall}) {
    ASSERT_EQ((a.*member).size(), (b.*member).size());
    for (size_t i = 0; i < (a.*member).size(); ++i) visit((a.*member)[i], (b.*member)[i]);
  }
}

Report BruteForce(const Case& c, const std::function<Nearer(const Case&, int)>& by, bool radii,
                  const EvaluateOptions& options) {
  Report report;
  report.queries = c.queries;
  report.precision_at_recall.resize(101);
  report.radius_precision.resize(radii ? c.bits + 1 : 0);
  report.radius_recall.resize(radii ? c.bits + 1 : 0);
  for (int n : options.cutoffs) {
    report.map_at[n] = report.ndcg_at[n] = report.precision_at[n] = report.recall_at[n] = 0;
  }
  for (int query = 0; query < c.queries; ++query) {
    if (!AddQuery(c, query, by(c, query), radii, options, report))
      ++report.queries_without_relevant;
  }
  const bool drop = options.empty_queries == EmptyQueries::kDrop;
  const int64_t counted = report.queries - (drop ? report.queries_without_relevant : 0);
  const Report same = report;
  ForEachNumber(report, same,
                [&](double& value, double) { value /= std::max<double>(counted, 1); });
  return report;
}

std::vector<std::vector<int>> Draw(Random& random, int rows, int width, int least, int values) {
  std::vector<std::vector<int>> out(rows, std::vector<int>(width));
  for (auto& row : out) {
    for (int& v : row) v = least + static_cast<int>(random.Below(values));
  }
  return out;
}

Relevance RelevanceOf(const Case& c) {
  std::vector<int64_t> ids[2];
  std::vector<uint8_t> labels[2];
  for (int side = 0; side < 2; ++side) {
    for (const auto& row : side == 0 ? c.query_labels : c.item_labels) {
      ids[side].push_back(row[0]);
      labels[side].insert(labels[side].end(), row.begin(), row.end());
    }
  }
  return c.by_pairs ? Relevance::FromPairs(ids[0], ids[1])
                    : Relevance::FromLabels(labels[0], labels[1], c.classes);
}

std::vector<float> Floats(const std::vector<std::vector<int>>& rows) {
  std::vector<float> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

void ExpectSame(const Report& ours, const Report& judge) {
  EXPECT_EQ(ours.queries, judge.queries);
  EXPECT_EQ(ours.queries_without_relevant, judge.queries_without_relevant);
  ForEachNumber(ours, judge, [](double a, double b) { EXPECT_NEAR(a, b, 1e-12); });
}

EvaluateOptions DrawOptions(Random& random) {
  EvaluateOptions options;
  options.cutoffs = {1, 2, 5, static_cast<int>(6 + random.Below(40))};
  options.empty_queries = random.Below(2) ? EmptyQueries::kDrop : EmptyQueries::kCountAsZero;
  options.gain = random.Below(2) ? Gain::kSharedLabels : Gain::kBinary;
  options.threads = 1;
  return options;
}

Case DrawCase(Random& random, int bits, int least, int values) {
  Case c;
  c.queries = static_cast<int>(1 + random.Below(3));
  c.items = static_cast<int>(random.Below(30));
  c.classes = static_cast<int>(1 + random.Below(4));
  c.bits = bits;
  c.by_pairs = random.Below(4) == 0;
  const int label_values = c.by_pairs ? 5 : 2;
  c.query_labels = Draw(random, c.queries, c.classes, 0, label_values);
  c.item_labels = Draw(random, c.items, c.classes, 0, label_values);
  c.query_values = Draw(random, c.queries, bits, least, values);
  c.item_values = Draw(random, c.items, bits, least, values);
  return c;
}

TEST(EvaluateBrute, FiveThousandCasesWithManyTiesByDistance) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    Case c = DrawCase(random, 8, 0, 2);
    // Only the first few bits differ: up to 30 items at 2 to 9 distances.
    const auto used = 1 + random.Below(8);
    for (auto* rows : {&c.query_values, &c.item_values}) {
      for (auto& row : *rows) std::fill(row.begin() + static_cast<int>(used), row.end(), 0);
    }
    const EvaluateOptions options = DrawOptions(random);
    const Report ours =
        Evaluate(Pack(Floats(c.query_values).data(), c.queries, 8),
                 Pack(Floats(c.item_values).data(), c.items, 8), RelevanceOf(c), options);
    ExpectSame(ours, BruteForce(c, ByDistance, true, options));
    if (HasFailure()) FAIL() << "in round " << round;
  }
}

TEST(EvaluateBrute, TwoThousandCasesByCosine) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    const Case c = DrawCase(random, 4, -1, 3);
    const EvaluateOptions options = DrawOptions(random);
    const Report ours =
        EvaluateCosine(Floats(c.query_values), Floats(c.item_values), 4, RelevanceOf(c), options);
    ExpectSame(ours, BruteForce(c, ByCosine, false, options));
    if (HasFailure()) FAIL() << "in round " << round;
  }
}

}  // namespace
}  // namespace crossilo

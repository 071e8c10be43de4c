#include "crossilo/eval/scorer.h"

#include <algorithm>
#include <numeric>

#include "crossilo/eval/measures.h"

namespace crossilo {
namespace {

constexpr size_t kLevels = 101;

}  // namespace

Scorer::Scorer(const Relevance& relevance, const EvaluateOptions& options, size_t radii)
    : relevance_(relevance),
      options_(options),
      radii_(radii),
      inverses_(Inverses(static_cast<uint32_t>(relevance.database()))),
      harmonic_(std::accumulate(inverses_.rbegin(), inverses_.rend(), 0.0)) {
  for (int n : options.cutoffs) deepest_ = std::max(deepest_, n);
  // No rank lies beyond the database, however deep a cut-off goes.
  discounts_ = Discounts(static_cast<int>(std::min<int64_t>(deepest_, relevance.database())));
}

size_t Scorer::width() const { return 3 + 4 * options_.cutoffs.size() + kLevels + 2 * radii_; }

void Scorer::Score(int64_t query, const Rank& rank, Desk& desk, std::span<double> row) const {
  desk.relevant.resize(relevance_.database());
  relevance_.Mark(query, desk.relevant);
  const bool shared = options_.gain == Gain::kSharedLabels;
  rank(query, shared ? deepest_ : 0, desk);
  const Ranking& ranking = desk.ranking;
  if (ranking.hit_ranks.empty()) return;

  row[0] = AveragePrecision(ranking.hit_ranks);
  row[1] = TieAwareAveragePrecision(ranking.groups, inverses_);
  row[2] = ChanceAveragePrecision(ranking.size, ranking.hit_ranks.size(), harmonic_);
  row = row.subspan(3);
  std::vector<uint16_t> ideal;
  if (shared) {
    desk.gains.resize(relevance_.database());
    relevance_.Gains(query, desk.gains);
    ideal = LargestGains(desk.gains, deepest_);
  }
  for (int n : options_.cutoffs) {
    ScoreAt(n, ranking, desk.gains, ideal, row);
    row = row.subspan(4);
  }
  InterpolatedPrecision(ranking.hit_ranks, row.first(kLevels));
  if (radii_ > 0) ScoreRadii(ranking, row.subspan(kLevels));
}

void Scorer::ScoreAt(int n, const Ranking& ranking, std::span<const uint16_t> gains,
                     std::span<const uint16_t> ideal, std::span<double> row) const {
  const auto& ranks = ranking.hit_ranks;
  const auto end = std::upper_bound(ranks.begin(), ranks.end(), static_cast<uint32_t>(n));
  const std::span<const uint32_t> within(ranks.begin(), end);
  const double hits = static_cast<double>(within.size());
  row[0] = AveragePrecision(within);
  row[1] = ideal.empty() ? BinaryNdcg(n, within, ranks.size())
                         : SharedNdcg(n, ranking.top, gains, ideal);
  row[2] = hits / n;
  row[3] = relevance_.by_pairs() ? (hits > 0) : hits / static_cast<double>(ranks.size());
}

double Scorer::BinaryNdcg(int n, std::span<const uint32_t> within, size_t relevant) const {
  double gained = 0, best = 0;
  for (uint32_t rank : within) gained += discounts_[rank];
  const size_t ideal = std::min<size_t>(n, relevant);
  for (size_t k = 1; k <= ideal; ++k) best += discounts_[k];
  return gained / best;
}

double Scorer::SharedNdcg(int n, std::span<const uint32_t> top, std::span<const uint16_t> gains,
                          std::span<const uint16_t> ideal) const {
  const size_t depth = std::min<size_t>(n, top.size());
  double gained = 0;
  for (size_t j = 0; j < depth; ++j) gained += gains[top[j]] * discounts_[j + 1];
  return gained / DiscountedGain(ideal.first(depth), discounts_);
}

void Scorer::ScoreRadii(const Ranking& ranking, std::span<double> row) const {
  double found = 0, hits = 0;
  for (size_t radius = 0; radius < radii_; ++radius) {
    found += ranking.groups[radius].size;
    hits += ranking.groups[radius].relevant;
    row[radius] = found > 0 ? hits / found : 0;
    row[radii_ + radius] = hits / static_cast<double>(ranking.hit_ranks.size());
  }
}

Report Scorer::ReportOf(std::span<const double> row) const {
  Report report;
  report.map = row[0];
  report.tie_aware_map = row[1];
  report.chance = row[2];
  row = row.subspan(3);
  for (int n : options_.cutoffs) {
    report.map_at[n] = row[0];
    report.ndcg_at[n] = row[1];
    report.precision_at[n] = row[2];
    report.recall_at[n] = row[3];
    row = row.subspan(4);
  }
  const auto take = [&](size_t count) {
    std::vector<double> values(row.begin(), row.begin() + static_cast<ptrdiff_t>(count));
    row = row.subspan(count);
    return values;
  };
  report.precision_at_recall = take(kLevels);
  report.radius_precision = take(radii_);
  report.radius_recall = take(radii_);
  return report;
}

}  // namespace crossilo

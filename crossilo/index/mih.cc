#include "crossilo/index/mih.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>

#include "crossilo/base/parallel.h"
#include "crossilo/codes/scan.h"
#include "crossilo/index/costs.h"
#include "crossilo/index/mih_found.h"
#include "crossilo/index/mih_lookup.h"

namespace crossilo {
namespace {

// Work below which starting a thread costs more than it saves.
constexpr double kQueriesPerThread = 8, kBytesPerThread = 2 << 20;

// Searches at the same time whose memory is kept.
constexpr size_t kSpare = 16;
// Queries that one pass of the kernel compares.
constexpr size_t kScanned = 4;

int Threads(const Policy& policy, double worth) {
  return static_cast<int>(std::min<double>(Workers(policy.threads), 1 + worth));
}

class Mih final : public MihIndex {
 public:
  Mih(const Table& table, std::span<const std::byte> tables)
      : table_(table), tables_(table, tables) {}

  std::string_view kind() const override { return "mih"; }
  const MihTables& tables() const override { return tables_; }

  Answers Search(std::span<const std::byte> queries, const Policy& policy) const override {
    const int64_t count = CheckSearch(table_, queries, policy);
    Answers answers(count);
    if (count == 0) return answers;
    const double scan_ns =
        CompareNs(tables_.size, tables_.distinct, tables_.row_bytes, Shape(count, policy));
    Compare(queries, LookUp(queries, policy, scan_ns, answers), policy, answers);
    return answers;
  }

  SearchShape Shape(int64_t queries, const Policy& policy) const override;
  std::vector<int64_t> LookUp(std::span<const std::byte> queries, const Policy& policy,
                              double scan_ns, Answers& answers) const override;
  void Compare(std::span<const std::byte> queries, std::span<const int64_t> which,
               const Policy& policy, Answers& answers) const override;

 private:
  const std::byte* Query(std::span<const std::byte> queries, int64_t i) const {
    return queries.data() + i * tables_.row_bytes;
  }
  // Compares some queries with the codes first .. last - 1.
  void CompareRange(std::span<const std::byte*> queries, int64_t first, int64_t last,
                    std::span<FoundCodes> found) const;
  // At most kScanned queries, with room for `rows` hits each.
  void CompareBlock(std::span<const std::byte*> queries, int64_t first, int64_t rows, ScanHit* hits,
                    std::span<FoundCodes> found) const;

  // Memory of searches that ended well: to fill it anew costs as much as a
  // search.
  std::unique_ptr<FoundCodes::Scratch> TakeScratch() const {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return std::make_unique<FoundCodes::Scratch>();
    auto scratch = std::move(spare_.back());
    spare_.pop_back();
    return scratch;
  }
  void GiveBack(std::unique_ptr<FoundCodes::Scratch> scratch) const {
    const std::lock_guard lock(mutex_);
    if (scratch && spare_.size() < kSpare) spare_.push_back(std::move(scratch));
  }

  Table table_;
  MihTables tables_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<FoundCodes::Scratch>> spare_;
};

SearchShape Mih::Shape(int64_t queries, const Policy& policy) const {
  SearchShape shape{.queries = queries, .threads = Workers(policy.threads)};
  // Of a radius search nobody knows beforehand what it finds.
  shape.k = policy.k >= tables_.size ? 0 : static_cast<double>(policy.k);
  if (policy.only == nullptr || tables_.size == 0) return shape;
  // A pass over all of the filter would take longer than a lookup.
  const auto words = policy.only->words();
  const size_t asked = std::min<size_t>(words.size(), 1024);
  int64_t passing = 0;
  for (size_t i = 0; i < asked; ++i) passing += std::popcount(words[i * words.size() / asked]);
  const auto of = static_cast<double>(std::min<int64_t>(tables_.size, 64 * asked));
  shape.share = std::clamp(static_cast<double>(passing) / of, 1 / of, 1.0);
  return shape;
}

std::vector<int64_t> Mih::LookUp(std::span<const std::byte> queries, const Policy& policy,
                                 double scan_ns, Answers& answers) const {
  struct Worker {
    MihLookup lookup;
    FoundCodes found;
    std::unique_ptr<FoundCodes::Scratch> scratch;
  };
  const auto count = static_cast<int64_t>(answers.size());
  const int threads = Threads(policy, static_cast<double>(count) / kQueriesPerThread);
  const double slots = static_cast<double>(tables_.size) /
                       std::max<double>(1, static_cast<double>(tables_.distinct));
  const MihLookup::Task task{.radius = RadiusInBits(policy, table_.bits),
                             .growing = policy.k < tables_.size,
                             .scan_ns = scan_ns,
                             .found_ns = FoundNs(slots, Shape(count, policy))};
  std::vector<std::unique_ptr<Worker>> workers(threads);
  std::vector<char> done(count);
  ForEach(count, threads, [&](int64_t i, int number) {
    std::unique_ptr<Worker>& worker = workers[number];
    if (!worker) {
      worker = std::make_unique<Worker>(
          Worker{MihLookup(tables_), FoundCodes(tables_, policy), TakeScratch()});
    }
    worker->found.Clear();
    done[i] = worker->lookup.Run(Query(queries, i), task, worker->found);
    if (done[i]) answers[i] = worker->found.Hits(*worker->scratch);
  });
  for (std::unique_ptr<Worker>& worker : workers) {
    if (worker) GiveBack(std::move(worker->scratch));
  }
  std::vector<int64_t> left;
  for (int64_t i = 0; i < count; ++i) {
    if (!done[i]) left.push_back(i);
  }
  return left;
}

void Mih::Compare(std::span<const std::byte> queries, std::span<const int64_t> which,
                  const Policy& policy, Answers& answers) const {
  // Queries that go over the codes together, and as many ranges of codes as it
  // takes to keep all threads busy.
  constexpr int64_t kTogether = 32;
  const auto count = static_cast<int64_t>(which.size());
  const double bytes = static_cast<double>(count * tables_.distinct) * tables_.row_bytes;
  const int threads = Threads(policy, bytes / kBytesPerThread);
  const int64_t groups =
      std::max((count + kTogether - 1) / kTogether, std::min<int64_t>(count, threads));
  if (groups == 0) return;
  const int64_t ranges = (threads + groups - 1) / groups;
  std::vector<std::vector<FoundCodes>> found(groups * ranges);
  const auto first_of = [&](int64_t group) { return group * count / groups; };
  ForEach(groups * ranges, threads, [&](int64_t item, int) {
    const int64_t group = item / ranges, range = item % ranges;
    std::vector<const std::byte*> codes;
    for (int64_t i = first_of(group); i < first_of(group + 1); ++i) {
      codes.push_back(Query(queries, which[i]));
    }
    found[item].assign(codes.size(), FoundCodes(tables_, policy));
    CompareRange(codes, range * tables_.distinct / ranges, (range + 1) * tables_.distinct / ranges,
                 found[item]);
  });
  // Query by query, because one may find more than all others of its group.
  std::vector<std::unique_ptr<FoundCodes::Scratch>> scratch(threads);
  ForEach(count, threads, [&](int64_t i, int worker) {
    const int64_t group = ((i + 1) * groups - 1) / count;  // the last with first_of(group) <= i
    FoundCodes& all = found[group * ranges][i - first_of(group)];
    for (int64_t range = 1; range < ranges; ++range) {
      all.Add(found[group * ranges + range][i - first_of(group)]);
    }
    if (!scratch[worker]) scratch[worker] = TakeScratch();
    answers[which[i]] = all.Hits(*scratch[worker]);
  });
  for (auto& one : scratch) GiveBack(std::move(one));
}

void Mih::CompareRange(std::span<const std::byte*> queries, int64_t first, int64_t last,
                       std::span<FoundCodes> found) const {
  // Rows that stay in the first-level cache for all queries.  The first
  // stretches are short, because until k are known every code is a hit.
  constexpr int64_t kFirstRows = 64, kBlockBytes = 16384;
  const int64_t most = std::min(last - first, kBlockBytes / tables_.row_bytes);
  const auto hits =
      std::make_unique_for_overwrite<ScanHit[]>(std::min(kScanned, queries.size()) * most);
  int64_t rows = std::min(kFirstRows, most);
  for (int64_t at = first; at < last; at += rows, rows = std::min(2 * rows, most)) {
    rows = std::min(rows, last - at);
    for (size_t q = 0; q < queries.size(); q += kScanned) {
      const size_t count = std::min(kScanned, queries.size() - q);
      CompareBlock(queries.subspan(q, count), at, rows, hits.get(), found.subspan(q, count));
    }
  }
}

void Mih::CompareBlock(std::span<const std::byte*> queries, int64_t first, int64_t rows,
                       ScanHit* hits, std::span<FoundCodes> found) const {
  const MihTables::Part& part = tables_.parts[0];
  std::array<ScanQuery, kScanned> scans;
  for (size_t q = 0; q < queries.size(); ++q) {
    scans[q] = {.code = queries[q], .limit = found[q].limit(), .out = hits + q * rows};
  }
  Scan(std::span(scans).first(queries.size()), part.rows + first * tables_.row_bytes,
       static_cast<size_t>(rows), static_cast<size_t>(tables_.row_bytes));
  for (size_t q = 0; q < queries.size(); ++q) {
    for (const ScanHit& hit : std::span(scans[q].out, scans[q].found)) {
      const uint32_t ref = part.refs[first + hit.row];
      if (hit.distance < found[q].limit() && ref < tables_.size) found[q].Add(ref, hit.distance);
    }
  }
}

}  // namespace

std::unique_ptr<Index> MakeMihIndex(const Table& table, std::span<const std::byte> tables) {
  return std::make_unique<Mih>(table, tables);
}

}  // namespace crossilo

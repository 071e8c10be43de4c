#include "crossilo/index/mih_lookup.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "crossilo/index/costs.h"
#include "crossilo/index/mih_plan.h"

namespace crossilo {
namespace {

// What may be lost to a search by lookups that is broken off, as a share of
// the scan that follows.
constexpr double kMayBeLost = 0.1;
// And what lookups may take that come to an end.
constexpr double kNearlyAll = 0.9;

uint32_t KeyOf(const std::vector<uint16_t>& key, const std::array<uint64_t, 16>& words) {
  uint32_t value = 0;
  for (size_t j = 0; j < key.size(); ++j) {
    value |= static_cast<uint32_t>(words[key[j] / 64] >> key[j] % 64 & 1) << j;
  }
  return value;
}

uint64_t Word(const std::byte* row, int w, int row_bytes) {
  uint64_t word = 0;
  if (row_bytes == 2) {
    std::memcpy(&word, row, 2);
  } else if (row_bytes == 4) {
    std::memcpy(&word, row, 4);
  } else {
    std::memcpy(&word, row + 8 * w, 8);
  }
  return word;
}

// The first rows of a bucket, so that those of many come at the same time.
void Prefetch(const std::byte* begin, const std::byte* end) {
  constexpr int64_t kLine = 64, kMost = 12 * kLine;
  if (end - begin > kMost) end = begin + kMost;
  for (const std::byte* at = begin; at < end; at += kLine) __builtin_prefetch(at);
}

// The next larger number with as many bits set (Gosper); 0 < set.
uint32_t NextWithAsManyBits(uint32_t set) {
  const uint32_t lowest = set & -set, ripple = set + lowest;
  return ripple | (((set ^ ripple) >> 2) / lowest);
}

}  // namespace

void MihLookup::SetQuery(const std::byte* query) {
  query_ = query;
  words_ = {};
  std::memcpy(words_.data(), query, static_cast<size_t>(tables_.row_bytes));
  for (size_t t = 0; t < tables_.parts.size(); ++t) keys_[t] = KeyOf(tables_.parts[t].key, words_);
}

// Step s = m a + t looks at the buckets of table t whose key differs in a bits.
// A code that none of the steps 0..r meets differs in more than r bits in all.
bool MihLookup::Run(const std::byte* query, const Task& task, FoundCodes& found) {
  if (tables_.parts[0].width == 0) return false;
  SetQuery(query);
  task_ = task;
  spent_ns_ = kFirstKeysNs;
  keys_done_ = 0;
  const auto m = static_cast<int>(tables_.parts.size());
  // At first every code that is met is among the k nearest.
  const double met = std::ldexp(static_cast<double>(tables_.distinct), -tables_.parts[0].width);
  if (task.growing && met * task.found_ns > kMayBeLost * task.scan_ns) return false;
  for (int step = 0; step <= task.radius; ++step) {
    if (!Worthwhile(step, found) || !Step(step % m, step / m, found)) return false;
    if (found.Enough(step)) return true;
  }
  return true;
}

double MihLookup::KeysAtStep(int step) const {
  const auto m = static_cast<int>(tables_.parts.size());
  return KeysAt(tables_.parts[step % m].width, step / m);
}

// A key like any other.
double MihLookup::KeyNs() const {
  return kBucketNs +
         std::ldexp(CandidatesNs(tables_.distinct, tables_.row_bytes), -tables_.parts[0].width);
}

// Before a step: whether the end is near enough, or this step is a small risk.
bool MihLookup::Worthwhile(int step, const FoundCodes& found) {
  const double key_ns = KeyNs();
  // Beyond the limit nothing is wanted.
  const int last = std::min(task_.radius, found.limit() - 1);
  double keys = 0;
  for (int s = step; s <= last && keys * key_ns < task_.scan_ns; ++s) keys += KeysAtStep(s);
  keys_in_all_ = keys_done_ + keys;
  if (spent_ns_ + keys * key_ns < kNearlyAll * task_.scan_ns) return true;
  return task_.growing && spent_ns_ + KeysAtStep(step) * key_ns < kMayBeLost * task_.scan_ns;
}

// Amid a step: buckets farther away are emptier than this step's, down to the
// mean of all, so a key to come is taken to be amid these two; from the query's
// own buckets nothing follows for others.
bool MihLookup::TooMuch(int a) const {
  if (spent_ns_ <= kMayBeLost * task_.scan_ns) return false;
  double key_ns = KeyNs();
  if (a > 0) key_ns = std::sqrt(key_ns * (spent_ns_ - step_ns_) / (keys_done_ - step_keys_));
  return spent_ns_ + (keys_in_all_ - keys_done_) * key_ns > kNearlyAll * task_.scan_ns;
}

bool MihLookup::Step(int table, int a, FoundCodes& found) {
  const int width = tables_.parts[table].width;
  if (a > width) return true;
  step_ns_ = spent_ns_;
  step_keys_ = keys_done_;
  std::array<uint32_t, kKeysAtOnce> keys;
  size_t count = 0;
  const uint32_t end = uint32_t{1} << width;
  for (uint32_t flip = (uint32_t{1} << a) - 1; flip < end; flip = NextWithAsManyBits(flip)) {
    keys[count++] = keys_[table] ^ flip;
    if (count == kKeysAtOnce) {
      if (!LookUp(table, a, keys, found)) return false;
      count = 0;
    }
    if (flip == 0) break;
  }
  return LookUp(table, a, std::span(keys).first(count), found);
}

bool MihLookup::LookUp(int table, int a, std::span<const uint32_t> keys, FoundCodes& found) {
  const MihTables::Part& part = tables_.parts[table];
  for (uint32_t key : keys) __builtin_prefetch(part.starts + key);
  std::array<std::pair<int64_t, int64_t>, kKeysAtOnce> runs;
  for (size_t i = 0; i < keys.size(); ++i) {
    // A damaged file may have anything there.
    const int64_t end = std::min<int64_t>(part.starts[keys[i] + 1], tables_.distinct);
    runs[i] = {std::min<int64_t>(part.starts[keys[i]], end), end};
    Prefetch(part.rows + runs[i].first * tables_.row_bytes,
             part.rows + runs[i].second * tables_.row_bytes);
  }
  spent_ns_ += static_cast<double>(keys.size()) * kBucketNs;
  keys_done_ += static_cast<double>(keys.size());
  const int step = a * static_cast<int>(tables_.parts.size()) + table;
  for (auto [row, end] : std::span(runs).first(keys.size())) {
    for (; row < end; row += kRowsAtOnce) {
      ScanRows(table, step, row, std::min(end - row, kRowsAtOnce), found);
      if (TooMuch(a)) return false;
    }
  }
  return true;
}

void MihLookup::ScanRows(int table, int step, int64_t row, int64_t count, FoundCodes& found) {
  const MihTables::Part& part = tables_.parts[table];
  const auto row_bytes = static_cast<size_t>(tables_.row_bytes);
  const std::byte* const from = part.rows + static_cast<size_t>(row) * row_bytes;
  std::array<ScanHit, kRowsAtOnce> hits;
  const size_t near =
      Scan(query_, from, static_cast<size_t>(count), row_bytes, found.limit(), hits.data());
  for (const ScanHit& hit : std::span(hits).first(near)) {
    if (hit.distance >= found.limit()) continue;
    if (SeenBefore(table, step, from + hit.row * row_bytes)) continue;
    const uint32_t ref = part.refs[row + hit.row];
    if (ref < tables_.size) found.Add(ref, hit.distance);
  }
  spent_ns_ += CandidatesNs(count, tables_.row_bytes);
  // A scan for everything within a radius finds as many.
  if (task_.growing) spent_ns_ += static_cast<double>(near) * task_.found_ns;
}

// Whether an earlier step met the code: each is added by the first that does.
bool MihLookup::SeenBefore(int table, int step, const std::byte* row) const {
  const int words = (tables_.row_bytes + 7) / 8, m = static_cast<int>(tables_.parts.size());
  for (int t = 0; t < m; ++t) {
    if (t == table || step <= t) continue;
    // Step m a + t is before `step` for a up to this.
    int within = (step - t - 1) / m;
    for (int w = 0; w < words && within >= 0; ++w) {
      uint64_t differing = (Word(row, w, tables_.row_bytes) ^ words_[w]) & tables_.parts[t].mask[w];
      // Few are allowed, so this ends sooner than a popcount.
      for (; differing != 0 && within >= 0; differing &= differing - 1) --within;
    }
    if (within >= 0) return true;
  }
  return false;
}

}  // namespace crossilo

// How long does a whole evaluation take at the size of NUS-WIDE, and how far
// is that from only computing the distances?  See bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string_view>

#include "crossilo/base/parallel.h"
#include "crossilo/base/random.h"
#include "crossilo/codes/hamming.h"
#include "crossilo/eval/evaluate.h"

namespace crossilo {
namespace {

constexpr int64_t kQueries = 2100, kItems = 193734, kClasses = 21;
constexpr int kBits = 64;

struct Collection {
  PackedCodes codes;
  std::vector<uint8_t> labels;
};

// One to three labels a sample, and a code that leans towards its first label:
// each bit is the label's with probability 0.65, so that distances spread as
// those of a trained model do.
Collection Draw(int64_t rows, std::string_view name) {
  Random random(1, {}, name);
  Random shared(1, {}, "centres");
  uint64_t centres[kClasses];
  for (uint64_t& centre : centres) centre = shared.Bits();
  Collection out = {PackedCodes(rows, kBits), std::vector<uint8_t>(rows * kClasses)};
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t first = random.Below(kClasses);
    out.labels[i * kClasses + first] = 1;
    for (uint64_t more = random.Below(3); more > 0; --more) {
      out.labels[i * kClasses + random.Below(kClasses)] = 1;
    }
    for (int b = 0; b < kBits; ++b) {
      const bool flipped = random.Uniform() >= 0.65;
      if ((centres[first] >> b & 1) != flipped) out.codes.SetBit(i, b);
    }
  }
  return out;
}

// Of the clock, and of all processors together: on a busy machine the second
// says what the first would be on a quiet one.
struct Time {
  double wall = 1e9, processor = 1e9;
};

template <typename Work>
void Measure(const Work& work, Time& best) {
  const std::clock_t processor = std::clock();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  best.wall = std::min(best.wall, wall.count());
  best.processor =
      std::min(best.processor, static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
}

void Print(std::string_view name, const Time& time) {
  fmt::print("{:<10} {:.3f} s  {:.0f} million distances/s  {:.3f} processor seconds\n", name,
             time.wall, double{kQueries} * kItems / time.wall / 1e6, time.processor);
}

// Only the distances, with the same kernel and as many threads.
void BarePass(const Collection& queries, const Collection& database) {
  std::vector<std::vector<uint16_t>> out(Workers(0), std::vector<uint16_t>(kItems));
  ForEach(kQueries, Workers(0), [&](int64_t query, int worker) {
    HammingDistances(queries.codes.Code(query).data(), database.codes.words().data(), kItems, 1,
                     out[worker].data());
  });
}

// AP by sorting, for the judgement.
double SlowAp(const Collection& queries, const Collection& database, int64_t query) {
  std::vector<int> distance(kItems), order(kItems);
  for (int64_t i = 0; i < kItems; ++i) {
    distance[i] = std::popcount(queries.codes.Code(query)[0] ^ database.codes.Code(i)[0]);
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return distance[a] < distance[b]; });
  double sum = 0, hits = 0;
  for (int64_t r = 0; r < kItems; ++r) {
    bool relevant = false;
    for (int64_t c = 0; c < kClasses; ++c) {
      relevant |= queries.labels[query * kClasses + c] && database.labels[order[r] * kClasses + c];
    }
    if (relevant) sum += ++hits / static_cast<double>(r + 1);
  }
  return hits > 0 ? sum / hits : 0;
}

// The largest difference between one query's evaluation and the slow one.
double WorstDifference(const Collection& queries, const Collection& database) {
  const auto bytes = queries.codes.ToBytes();
  double worst = 0;
  for (int64_t query = 0; query < kQueries; query += kQueries / 10) {
    const auto code = std::span(bytes).subspan(query * kBits / 8, kBits / 8);
    const auto labels = std::span(queries.labels).subspan(query * kClasses, kClasses);
    const Report one = Evaluate(PackedCodes::FromBytes(code, 1, kBits), database.codes,
                                Relevance::FromLabels(labels, database.labels, kClasses));
    worst = std::max(worst, std::abs(one.map - SlowAp(queries, database, query)));
  }
  return worst;
}

int Main() {
  const Collection queries = Draw(kQueries, "queries"), database = Draw(kItems, "database");
  const auto relevance = Relevance::FromLabels(queries.labels, database.labels, kClasses);
  Report report;
  Time whole, bare;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Measure([&] { report = Evaluate(queries.codes, database.codes, relevance); }, whole);
    Measure([&] { BarePass(queries, database); }, bare);
  }
  fmt::print("{} queries x {} items, {} bits, {} classes, {} threads, kernel {}\n", kQueries,
             kItems, kBits, kClasses, Workers(0), AvailableKernels().back().name);
  Print("evaluate", whole);
  Print("distances", bare);
  fmt::print("ratio      {:.1f}\n", whole.processor / bare.processor);
  fmt::print("mAP@all {:.6f}, tie-aware {:.6f}, chance {:.6f}\n", report.map, report.tie_aware_map,
             report.chance);
  const double worst = WorstDifference(queries, database);
  fmt::print("against sorting: largest difference {:.1e} over 10 queries\n", worst);
  const bool good = worst < 1e-12 && whole.wall < 3;
  fmt::print("{}\n", good ? "right, and under 3 s" : "NOT as it should be");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace crossilo

int main() { return crossilo::Main(); }

// How many times faster than the flat scan is multi-index hashing on learnt
// codes?
//
//   bench_index_mih CODES.npy QUERIES.npy [queries]
//
// Both files are uint8, n x bits/8, as `crossilo encode` writes them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "bench/aligned.h"
#include "bench/timing.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/index/index.h"
#include "crossilo/index/mih_tables.h"

namespace crossilo {
namespace {

using Answers = std::vector<std::vector<SlotHit>>;

constexpr int kThreads = 2;
constexpr double kGoal = 10;

struct Codes {
  std::vector<std::byte> rows;
  int bits = 0;
  int64_t size = 0;
  std::span<const std::byte> Row(int64_t i) const {
    const size_t bytes = rows.size() / static_cast<size_t>(size);
    return std::span(rows).subspan(static_cast<size_t>(i) * bytes, bytes);
  }
};

Codes ReadNpy(const std::string& path) {
  const std::string file = ReadFile(path);
  uint16_t length = 0;
  if (file.size() > 10) std::memcpy(&length, file.data() + 8, 2);
  const std::string header = file.substr(std::min<size_t>(10, file.size()), length);
  const size_t shape = header.find("'shape': (");
  long long n = 0, bytes = 0;
  if (file.compare(0, 6, "\x93NUMPY") != 0 || header.find("|u1") == std::string::npos ||
      shape == std::string::npos ||
      std::sscanf(header.c_str() + shape, "'shape': (%lld, %lld)", &n, &bytes) != 2 || n < 1 ||
      bytes < 1 || bytes > 128 || file.size() - 10 - length != static_cast<size_t>(n * bytes)) {
    throw Error("{}: no n x bits/8 array of uint8", path);
  }
  const int bits = static_cast<int>(8 * bytes);
  const auto* data = reinterpret_cast<const uint8_t*>(file.data()) + 10 + length;
  const auto codes = PackedCodes::FromBytes({data, static_cast<size_t>(n * bytes)}, n, bits);
  return {.rows = ToRows(codes), .bits = bits, .size = n};
}

double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

struct Row {
  std::string name;
  Policy policy;
  bool asked;  // whether missing kGoal fails the bench
};

struct Times {
  double flat = 0, mih = 0;  // seconds a query
  double ratio() const { return flat / mih; }
};

// Both in turn, each query by itself; the ratio of the median query as well.
Times Alone(const Row& row, const Index& flat, const Index& mih, const Codes& queries,
            const Answers& right, double& median) {
  Times times;
  std::vector<double> ratios;
  for (int64_t q = 0; q < queries.size; ++q) {
    Answers by_flat, by_mih;
    const double scan = Seconds([&] { by_flat = flat.Search(queries.Row(q), row.policy); });
    const double tables = Seconds([&] { by_mih = mih.Search(queries.Row(q), row.policy); });
    if (by_flat[0] != right[q] || by_mih[0] != right[q]) throw Error("{}: different", row.name);
    times.flat += scan / static_cast<double>(queries.size);
    times.mih += tables / static_cast<double>(queries.size);
    ratios.push_back(scan / tables);
  }
  median = Median(ratios);
  return times;
}

// All of them at once, the fastest of seven.
Times AtOnce(const Row& row, const Index& flat, const Index& mih, const Codes& queries,
             Answers& right) {
  Times times{.flat = 1e9, .mih = 1e9};
  for (int repeat = 0; repeat < 7; ++repeat) {
    Answers answers;
    const double scan = Seconds([&] { right = flat.Search(queries.rows, row.policy); });
    const double tables = Seconds([&] { answers = mih.Search(queries.rows, row.policy); });
    if (answers != right) throw Error("{}: different answers", row.name);
    times.flat = std::min(times.flat, scan / static_cast<double>(queries.size));
    times.mih = std::min(times.mih, tables / static_cast<double>(queries.size));
  }
  return times;
}

// Prints a line; whether it is kGoal times as fast both ways.
bool Measure(const Row& row, const Index& flat, const Index& mih, const Codes& queries) {
  Answers right;
  const Times at_once = AtOnce(row, flat, mih, queries, right);
  double median = 0;
  const Times alone = Alone(row, flat, mih, queries, right, median);
  double hits = 0;
  for (const auto& answer : right) hits += static_cast<double>(answer.size());
  // No search can be faster than writing down what it has found.
  Answers copy;
  const double copied = Seconds([&] { copy = right; });
  const auto n = static_cast<double>(queries.size);
  const bool fast = std::min(alone.ratio(), at_once.ratio()) >= kGoal;
  fmt::print("{:<14} {:>8.0f} {:>7.3f}   {:>7.3f} {:>7.3f} {:>6.1f} {:>6.1f}   ", row.name,
             hits / n, 1e3 * copied / n, 1e3 * alone.flat, 1e3 * alone.mih, alone.ratio(), median);
  fmt::print("{:>7.3f} {:>7.3f} {:>6.1f}{}\n", 1e3 * at_once.flat, 1e3 * at_once.mih,
             at_once.ratio(), fast ? "" : "  below 10");
  std::fflush(stdout);
  return fast;
}

std::vector<Row> Rows() {
  std::vector<Row> rows;
  // As many as a page shows, as many as the server gives out, and everything.
  for (int64_t k : {int64_t{50}, int64_t{1000}, Policy::kAll}) {
    const std::string most = k == Policy::kAll ? "all" : fmt::format("{}", k);
    for (int within = 0; within <= 6; ++within) {
      rows.push_back({.name = fmt::format("{} within {}", most, within),
                      .policy = {.k = k, .radius = static_cast<float>(within), .threads = kThreads},
                      .asked = k != Policy::kAll});
    }
  }
  for (int64_t k : {10, 50}) {
    rows.push_back({.name = fmt::format("top {}", k), .policy = {.k = k, .threads = kThreads}});
  }
  return rows;
}

Codes Some(const Codes& all, int64_t count) {
  Codes some{.rows = {}, .bits = all.bits, .size = std::min(count, all.size)};
  for (int64_t i = 0; i < some.size; ++i) {
    const auto row = all.Row(i * all.size / some.size);
    some.rows.insert(some.rows.end(), row.begin(), row.end());
  }
  return some;
}

int Run(const std::string& codes_path, const std::string& queries_path, int64_t most) {
  const Codes codes = ReadNpy(codes_path), queries = Some(ReadNpy(queries_path), most);
  if (queries.bits != codes.bits)
    throw Error("queries of {} bits for {}", queries.bits, codes.bits);
  const Table table{.rows = codes.rows.data(), .size = codes.size, .bits = codes.bits};
  IndexChoice choice;
  const double choosing = Seconds([&] { choice = ChooseIndex(table); });
  std::string built;
  const double building = Seconds([&] { built = BuildMih(table, kThreads); });
  const Aligned bytes(built);
  built = {};
  const MihTables tables(table, bytes.bytes());
  fmt::print("{} codes of {} bits, {} distinct; {} queries; {} threads\n", codes.size, codes.bits,
             tables.distinct, queries.size, kThreads);
  fmt::print("{} tables with keys of {} bits, {:.0f} MB, built in {:.1f} s\n", tables.parts.size(),
             tables.parts[0].width, static_cast<double>(bytes.bytes().size()) / 1e6, building);
  fmt::print("chosen in {:.0f} ms: {}\n\n", 1e3 * choosing, choice.reason);
  fmt::print(
      "ms a query         hits    copy   alone: flat    mih  ratio median   at once: flat    mih  "
      "ratio\n");
  const auto flat = MakeFlatIndex(table), mih = MakeMihIndex(table, bytes.bytes());
  int asked = 0, asked_fast = 0, others = 0, others_fast = 0;
  for (const Row& row : Rows()) {
    const bool fast = Measure(row, *flat, *mih, queries);
    ++(row.asked ? asked : others);
    (row.asked ? asked_fast : others_fast) += fast;
  }
  fmt::print(
      "the same answers; {} times as fast: {} of {} lines with up to 1000 hits, {} of {} others\n",
      kGoal, asked_fast, asked, others_fast, others);
  return asked_fast == asked ? 0 : 1;
}

}  // namespace
}  // namespace crossilo

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw crossilo::Error("bench_index_mih CODES.npy QUERIES.npy [queries]");
    return crossilo::Run(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 200);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

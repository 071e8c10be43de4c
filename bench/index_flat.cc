// How near is the flat index to a bare loop of loads, XORs and popcounts, at an
// exact top-50 in ten million random codes?  bench/README.md says what is right.
//
//   bench_index_flat [threads [bits [folder]]]
//
// With a folder it leaves codes, queries and answers there for the faiss
// programs (index_flat.sh).
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "bench/index_flat_bare.h"
#include "crossilo/base/parallel.h"
#include "crossilo/index/index.h"

namespace crossilo {
namespace {

constexpr int64_t kCodes = 10'000'000, kQueries = 200, kSingles = 20, kTop = 50;
constexpr int kRounds = 5;

using Answers = std::vector<std::vector<SlotHit>>;

// SplitMix64: the i-th word needs none of those before it.
uint64_t Word(uint64_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<std::byte> RandomBytes(size_t size, uint64_t seed) {
  std::vector<std::byte> bytes((size + 7) / 8 * 8);
  for (size_t i = 0; i < bytes.size() / 8; ++i) {
    const uint64_t word = Word((seed << 40) + i);
    std::memcpy(bytes.data() + 8 * i, &word, 8);
  }
  bytes.resize(size);
  return bytes;
}

// By the clock, and of all threads' processors: what others do on the machine
// moves the first far more than the second.
struct Seconds {
  explicit Seconds(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    const double before = Processor();
    work();
    processor = Processor() - before;
    clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  static double Processor() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double clock, processor;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Whether three of the answers are those of sorting everything.
bool Right(const Table& table, const std::vector<std::byte>& queries, const Answers& answers) {
  const int64_t bytes = table.row_bytes();
  for (int64_t q : {int64_t{0}, kQueries / 2, kQueries - 1}) {
    std::vector<SlotHit> all(kCodes);
    for (uint32_t slot = 0; slot < kCodes; ++slot) {
      int distance = 0;
      for (int64_t b = 0; b < bytes; ++b) {
        distance += std::popcount(
            static_cast<unsigned>(queries[q * bytes + b] ^ table.rows[slot * bytes + b]));
      }
      all[slot] = {slot, static_cast<float>(distance)};
    }
    std::partial_sort(all.begin(), all.begin() + kTop, all.end(),
                      [](const SlotHit& a, const SlotHit& b) { return Nearer(a, b); });
    all.resize(kTop);
    if (all != answers[q]) return false;
  }
  return true;
}

void Write(const std::string& path, const void* data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

void WriteAll(const std::string& folder, const std::vector<std::byte>& codes,
              const std::vector<std::byte>& queries, const Answers& answers) {
  std::vector<int32_t> distances;
  std::vector<int64_t> ids;
  for (const std::vector<SlotHit>& hits : answers) {
    for (const SlotHit& hit : hits) {
      distances.push_back(static_cast<int32_t>(hit.distance));
      ids.push_back(hit.slot);
    }
  }
  Write(folder + "/codes", codes.data(), codes.size());
  Write(folder + "/queries", queries.data(), queries.size());
  Write(folder + "/distances", distances.data(), 4 * distances.size());
  Write(folder + "/ids", ids.data(), 8 * ids.size());
}

// Medians of the rounds, in which ours and the bare loop take turns.
class Times {
 public:
  void Add(const Seconds& ours, const Seconds& bare) {
    clock_.push_back(ours.clock);
    processor_.push_back(ours.processor);
    shares_.push_back(bare.processor / ours.processor);
  }
  double Share() const { return Median(shares_); }
  void Print(double repeats) const {
    std::printf(" %10.6f %10.6f %5.0f%%", Median(clock_) / repeats, Median(processor_) / repeats,
                100 * Share());
  }

 private:
  std::vector<double> clock_, processor_, shares_;
};

bool Measure(int bits, int threads, const char* folder) {
  const auto bytes = static_cast<size_t>(bits / 8);
  const std::vector<std::byte> codes = RandomBytes(kCodes * bytes, 1);
  const std::vector<std::byte> queries = RandomBytes(kQueries * bytes, 2);
  const Table table{.rows = codes.data(), .size = kCodes, .bits = bits};
  const auto index = MakeFlatIndex(table);
  const Policy policy{.k = kTop, .threads = threads};
  const std::span<const std::byte> all(queries);
  Answers answers;
  Answers singles(kSingles);
  Times batch, single;
  for (int round = 0; round < kRounds; ++round) {
    const Seconds ours([&] { answers = index->Search(all, policy); });
    batch.Add(ours, Seconds([&] { BareBatch(all, codes, bytes, threads); }));
    const auto query = [&](int64_t q) { return all.subspan(q * bytes, bytes); };
    const Seconds ones([&] {
      for (int64_t q = 0; q < kSingles; ++q) singles[q] = index->Search(query(q), policy)[0];
    });
    const Seconds bare_ones([&] {
      for (int64_t q = 0; q < kSingles; ++q) BareSingle(query(q), codes, bytes, threads);
    });
    single.Add(ones, bare_ones);
  }
  const bool right =
      Right(table, queries, answers) && std::equal(singles.begin(), singles.end(), answers.begin());
  std::printf("%4d", bits);
  batch.Print(1);
  single.Print(kSingles);
  std::printf("  %s\n", right ? "right" : "WRONG");
  std::fflush(stdout);
  if (folder != nullptr) WriteAll(folder, codes, queries, answers);
  return right && batch.Share() >= 0.7;
}

}  // namespace
}  // namespace crossilo

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const int only = argc > 2 ? std::atoi(argv[2]) : 0;
  std::printf("top-%d of %d million codes, %d thread(s), bare loop: %s\n",
              static_cast<int>(crossilo::kTop), static_cast<int>(crossilo::kCodes / 1'000'000),
              threads, crossilo::BareKernel());
  std::printf("seconds by the clock and of processors, share of the bare loop's speed\n");
  std::printf("bits  batch of %d                  single query\n",
              static_cast<int>(crossilo::kQueries));
  bool good = true;
  for (int bits : {16, 32, 64, 128, 256}) {
    if (only != 0 && bits != only) continue;
    good &= crossilo::Measure(bits, threads, argc > 3 ? argv[3] : nullptr);
  }
  std::printf("%s\n", good ? "right, and at least 70% of the bare loop" : "not as it should be");
  return good ? 0 : 1;
}

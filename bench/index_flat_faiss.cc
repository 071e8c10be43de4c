// The other half of index_flat: faiss's IndexBinaryFlat over the codes that
// bench_index_flat left in a folder, and whether its answers are ours.
//
//   bench_index_flat_faiss threads bits folder
//
// prints the seconds of a batch by the clock and of processors, those of a
// single query, and "equal" or "different".
#include <faiss/IndexBinaryFlat.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int64_t kSingles = 20, kTop = 50;

template <typename T>
std::vector<T> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(1);
  }
  std::vector<T> values(static_cast<size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

double Processor() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// By the clock and of all threads' processors.
void PrintSeconds(int64_t repeats, const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  const double before = Processor();
  work();
  const double processor = Processor() - before;
  const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - start;
  std::printf("%.6f %.6f ", clock.count() / static_cast<double>(repeats),
              processor / static_cast<double>(repeats));
}

struct Answers {
  std::vector<int32_t> distances;
  std::vector<int64_t> ids;
};

// Among codes as far as the k-th faiss promises no order; the nearer ones it
// may list in any order within a distance.
bool Equal(const Answers& ours, Answers theirs) {
  if (ours.distances != theirs.distances) return false;
  for (size_t q = 0; q < theirs.ids.size(); q += kTop) {
    const int32_t last = ours.distances[q + kTop - 1];
    std::vector<int64_t> a, b;
    for (size_t i = q; i < q + kTop; ++i) {
      if (ours.distances[i] == last) continue;
      a.push_back(ours.ids[i]);
      b.push_back(theirs.ids[i]);
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    if (a != b) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_index_flat_faiss threads bits folder\n");
    return 1;
  }
  omp_set_num_threads(std::atoi(argv[1]));
  const int bits = std::atoi(argv[2]);
  const std::string folder = argv[3];
  const auto queries = Read<uint8_t>(folder + "/queries");
  const int64_t bytes = bits / 8, count = static_cast<int64_t>(queries.size()) / bytes;
  faiss::IndexBinaryFlat index(bits);
  {
    const auto codes = Read<uint8_t>(folder + "/codes");
    index.add(static_cast<int64_t>(codes.size()) / bytes, codes.data());
  }
  Answers found{std::vector<int32_t>(count * kTop), std::vector<int64_t>(count * kTop)};
  PrintSeconds(1, [&] {
    index.search(count, queries.data(), kTop, found.distances.data(), found.ids.data());
  });
  Answers one{std::vector<int32_t>(kTop), std::vector<int64_t>(kTop)};
  PrintSeconds(kSingles, [&] {
    for (int64_t q = 0; q < kSingles; ++q) {
      index.search(1, queries.data() + q * bytes, kTop, one.distances.data(), one.ids.data());
    }
  });
  const Answers ours{Read<int32_t>(folder + "/distances"), Read<int64_t>(folder + "/ids")};
  const bool equal = Equal(ours, found);
  std::printf("%s\n", equal ? "equal" : "different");
  return equal ? 0 : 1;
}

// How soon can a stored index be searched, and what does a change cost, whatever
// its size?  See bench/README.md.
//
//   bench_index_open [items, 100000000] [a folder, build/index_open]
//
// Codes of 64 bits without facts.  The file is made anew and removed at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>

#include "bench/timing.h"
#include "crossilo/base/random.h"
#include "crossilo/index/store.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// The median of `times` runs.
double Median(int times, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) seconds.push_back(Seconds(work));
  std::ranges::nth_element(seconds, seconds.begin() + times / 2);
  return seconds[times / 2];
}

std::vector<std::byte> CodeOf(uint64_t word) {
  std::vector<std::byte> code(8);
  std::memcpy(code.data(), &word, 8);
  return code;
}

void Line(const char* what, double seconds, double goal) {
  fmt::print("{:<44} {:>10.4f} ms{}\n", what, 1e3 * seconds, seconds < goal ? "" : "  too long");
}

int Run(int64_t items, const fs::path& folder) {
  constexpr double kOpen = 0.010, kSync = 0.100, kChange = 0.001;  // seconds
  fs::create_directories(folder);
  const fs::path path = folder / "open.cxi";
  fs::remove(path);
  const Schema schema = {.columns = {"image"}, .bits = 64};
  Random random(1, {}, "codes");
  const double made = Seconds([&] {
    Store::Create(path, schema, items,
                  [&](int64_t i) {
                    return Item{
                        .id = i, .silo = "one", .facts = "{}", .codes = {CodeOf(random.Bits())}};
                  },
                  {.index = "flat"});
  });
  fmt::print("{} items of 64 bits, {:.1f} GB, made in {:.0f} s\n\n", items,
             static_cast<double>(fs::file_size(path)) / 1e9, made);
  std::unique_ptr<Store> store;
  const double open = Median(21, [&] { store = Store::Open(path); });
  Line("open for reading", open, kOpen);
  const double writing = Median(21, [&] {
    store.reset();
    store = Store::OpenForWriting(path);
  });
  Line("open for writing, the log synced", writing, kSync);
  int64_t next = 7;
  const auto step = [&] { return next = (next * 48271 + 11) % items; };
  const double find = Median(1001, [&] { store->Find(step()); });
  Line("find an item by its id", find, kChange);
  const double remove = Median(1001, [&] { store->Remove(step()); });
  Line("remove an item, before the commit", remove, kChange);
  const double put = Median(1001, [&] {
    store->Put({.id = step(), .silo = "one", .facts = "{}", .codes = {CodeOf(random.Bits())}});
  });
  Line("add or replace an item, before the commit", put, kChange);
  const double commit = Seconds([&] { store->Commit(); });
  fmt::print("{:<44} {:>10.4f} ms\n", "commit these 2002 changes", 1e3 * commit);
  const double again = Median(21, [&] { Store::Open(path); });
  Line("open with 2002 changes in the log", again, kOpen);
  store.reset();
  fs::remove_all(folder);
  return open < kOpen && writing < kSync && find < kChange && remove < kChange && put < kChange &&
                 again < kOpen
             ? 0
             : 1;
}

}  // namespace
}  // namespace crossilo

int main(int argc, char** argv) {
  try {
    return crossilo::Run(argc > 1 ? std::atoll(argv[1]) : 100'000'000,
                         argc > 2 ? argv[2] : "build/index_open");
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

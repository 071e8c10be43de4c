// Compares every query with every code: exact, and nothing to build.  A block of
// rows is scanned by all queries of a batch while it is in the cache, and a row
// that is not nearer than a query's limit, its k-th distance so far, costs no
// more than the popcount that says so (codes/scan.h).
#include <algorithm>
#include <memory>
#include <numeric>

#include "crossilo/base/parallel.h"
#include "crossilo/codes/scan.h"
#include "crossilo/index/blocks.h"
#include "crossilo/index/index.h"
#include "crossilo/index/nearest.h"

namespace crossilo {
namespace {

// As many as share their loads in the fastest kernel, with room for its hits.
constexpr size_t kTogether = 4;
// From so many on, rearranging a block (MakeTiles) is soon regained.
constexpr size_t kWorthTiles = 16;
// Work, in bytes compared, below which starting a thread costs more than it
// saves: 2 MB take about 50 microseconds.
constexpr double kBytesPerWorker = 2 << 20;

// Queries and slots from begin to before end, for one thread.
struct Task {
  int64_t first_query, last_query, begin, end;
};

// Queries where every thread gets enough to scan together: no answers to merge,
// and limits as tight as they can be.  Else slots, by multiples of 64 (Blocks).
std::vector<Task> Divide(int64_t queries, const Table& table, int threads) {
  const double bytes = static_cast<double>(table.size) * table.row_bytes() * queries;
  const auto most = static_cast<int64_t>(1 + bytes / kBytesPerWorker);
  const int64_t workers = std::min<int64_t>(Workers(threads), most);
  std::vector<Task> tasks;
  const auto add = [&](int64_t total, int64_t unit, auto make) {
    const int64_t units = (total + unit - 1) / unit;
    for (int64_t w = 0; w < workers; ++w) {
      const int64_t begin = units * w / workers * unit;
      const int64_t end = std::min(total, units * (w + 1) / workers * unit);
      if (begin < end) tasks.push_back(make(begin, end));
    }
  };
  if (queries >= 2 * static_cast<int64_t>(kTogether) * workers) {
    add(queries, kTogether, [&](int64_t b, int64_t e) { return Task{b, e, 0, table.size}; });
  } else {
    add(table.size, 64, [&](int64_t b, int64_t e) { return Task{0, queries, b, e}; });
  }
  return tasks;
}

// One thread's work: some queries over some slots.
class TaskScan {
 public:
  // `found` has what was found so far, one for each of `queries`.
  TaskScan(const Table& table, const std::byte* queries, std::vector<Nearest>& found)
      : row_bytes_(table.row_bytes()), queries_(queries), found_(found), open_(found.size()) {
    std::iota(open_.begin(), open_.end(), 0u);
  }

  void Run(Blocks blocks) {
    room_ = blocks.most();
    hits_ = std::make_unique_for_overwrite<ScanHit[]>(std::min(kTogether, open_.size()) * room_);
    ScanFunction* const tile_scan = row_bytes_ >= 16 ? TileScan() : nullptr;
    std::vector<std::byte> tiles;
    Block block;
    while (blocks.Next(block)) {
      std::erase_if(open_, [&](uint32_t q) { return found_[q].limit() == 0; });
      if (open_.empty()) return;
      if (tile_scan != nullptr && open_.size() >= kWorthTiles) {
        tiles.resize((block.size + 7) / 8 * 8 * row_bytes_);
        MakeTiles(block.rows, block.size, row_bytes_, tiles.data());
        ScanBlock(block, tile_scan, tiles.data());
      } else {
        ScanBlock(block, Scan, block.rows);
      }
    }
  }

 private:
  void ScanBlock(const Block& block, ScanFunction* scan, const std::byte* rows) {
    for (size_t i = 0; i < open_.size(); i += kTogether) {
      const size_t count = std::min(kTogether, open_.size() - i);
      ScanQuery together[kTogether];
      for (size_t j = 0; j < count; ++j) {
        together[j] = {.code = queries_ + open_[i + j] * row_bytes_,
                       .limit = found_[open_[i + j]].limit(),
                       .out = hits_.get() + j * room_};
      }
      scan({together, count}, rows, block.size, row_bytes_);
      for (size_t j = 0; j < count; ++j) Take(block, together[j], found_[open_[i + j]]);
    }
  }

  static void Take(const Block& block, const ScanQuery& scanned, Nearest& nearest) {
    for (const ScanHit& hit : std::span(scanned.out, scanned.found)) {
      const uint32_t slot = block.Slot(hit.row);
      if (block.only == nullptr || block.only->Has(slot)) nearest.Offer(slot, hit.distance);
    }
  }

  const size_t row_bytes_;
  const std::byte* queries_;
  std::vector<Nearest>& found_;
  std::vector<uint32_t> open_;  // queries that can still improve
  std::unique_ptr<ScanHit[]> hits_;
  size_t room_ = 0;  // in hits_, for each of the queries scanned together
};

class FlatIndex final : public Index {
 public:
  explicit FlatIndex(const Table& table) : table_(table) {}

  std::string_view kind() const override { return "flat"; }

  std::vector<std::vector<SlotHit>> Search(std::span<const std::byte> queries,
                                           const Policy& policy) const override {
    const int64_t count = CheckSearch(table_, queries, policy);
    const std::vector<Task> tasks = Divide(count, table_, policy.threads);
    std::vector<std::vector<Nearest>> found(tasks.size());
    const auto workers = static_cast<int>(tasks.size());
    ForEach(workers, workers, [&](int64_t t, int) {
      const Task& task = tasks[t];
      found[t].assign(task.last_query - task.first_query, Nearest(policy.k, Cap(policy)));
      TaskScan scan(table_, queries.data() + task.first_query * table_.row_bytes(), found[t]);
      scan.Run(Blocks(table_, policy.only, task.begin, task.end, found[t].size()));
    });
    std::vector<std::vector<SlotHit>> answers(count);
    for (int64_t q = 0; q < count; ++q) {
      // Tasks stand by slot, so the first answer takes in the later ones.
      Nearest* first = nullptr;
      for (size_t t = 0; t < tasks.size(); ++t) {
        if (q < tasks[t].first_query || q >= tasks[t].last_query) continue;
        Nearest& part = found[t][q - tasks[t].first_query];
        if (first == nullptr) {
          first = &part;
        } else {
          first->Offer(part);
        }
      }
      if (first != nullptr) answers[q] = first->Sorted();
    }
    return answers;
  }

 private:
  // The first distance that is too far.
  int Cap(const Policy& policy) const {
    const auto none = static_cast<int>(8 * table_.row_bytes()) + 1;
    if (policy.radius < 0) return 0;
    return policy.radius >= static_cast<float>(none) ? none : static_cast<int>(policy.radius) + 1;
  }

  const Table table_;
};

}  // namespace

std::unique_ptr<Index> MakeFlatIndex(const Table& table) {
  return std::make_unique<FlatIndex>(table);
}

}  // namespace crossilo

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crossilo/index/bitmap.h"

namespace crossilo {

// Rows that can be searched, borrowed from whoever holds them, such as a mapped
// file: row i stands in slot i.  Either packed codes (bits > 0, dims = 0, rows
// of RowBytes(bits) bytes) or float32 rows of a real-valued model (dims > 0,
// bits = 0), which need not have length 1.
struct Table {
  const std::byte* rows = nullptr;
  int64_t size = 0;  // at most 2^32 - 1
  int bits = 0;
  int dims = 0;

  bool real_valued() const { return dims > 0; }
  int64_t row_bytes() const;
};

// What may be returned.
struct Policy {
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  static constexpr float kAnyDistance = std::numeric_limits<float>::infinity();

  int64_t k = 10;                // at most so many; kAll with a radius is a radius search
  float radius = kAnyDistance;   // none farther than this
  const Bitmap* only = nullptr;  // only slots whose bit is set; null: all
  int threads = 0;               // 0: one a core
};

struct SlotHit {
  uint32_t slot = 0;
  float distance = 0;  // bits that differ, or 1 - cosine

  bool operator==(const SlotHit&) const = default;
};

// Nearest first, equally near ones by slot.
inline bool Nearer(const SlotHit& a, const SlotHit& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.slot < b.slot;
}

// A way to search a table.  Every kind is exact: the same hits in the same
// order, whatever the number of threads.  The table must outlive it.  Safe to
// use from many threads.
class Index {
 public:
  virtual ~Index() = default;

  // "flat", "mih", "cosine", "auto".
  virtual std::string_view kind() const = 0;

  // The answers to each of the queries, rows as the table has them, one after
  // the other.  Throws Error where they are no whole rows or have bits that codes
  // have not, k is negative, the filter has another size than the table, or a real
  // value is not finite.
  virtual std::vector<std::vector<SlotHit>> Search(std::span<const std::byte> queries,
                                                   const Policy& policy) const = 0;
};

// Compares with every code.
std::unique_ptr<Index> MakeFlatIndex(const Table& table);

// Multi-index hashing (Norouzi, Punjani, Fleet, CVPR 2012): looks codes up by
// parts of them.  BuildMih makes the tables once, as bytes that can be stored
// and mapped; the same codes give the same bytes.  MakeMihIndex reads them
// where they lie (aligned to 64 bytes), without a pass over them, and throws
// Error where their sizes do not fit the table; whatever their content, a
// search never reads outside them.
std::string BuildMih(const Table& table, int threads = 0);
std::unique_ptr<Index> MakeMihIndex(const Table& table, std::span<const std::byte> tables);

// Real-valued rows by cosine, every row compared; a zero row has cosine 0.
std::unique_ptr<Index> MakeCosineIndex(const Table& table);

// Asks the cost model, query by query, whether the scan or the tables answer
// sooner.  `mih` may be null: then the scan always does.
std::unique_ptr<Index> MakeAutoIndex(std::unique_ptr<Index> flat, std::unique_ptr<Index> mih);

// Whether tables are worth their memory for these codes, from a sample of
// them, and the sentence that says why, such as "mih: about 0.4 ms a query
// against 6.2 ms by flat scan".
struct IndexChoice {
  bool mih = false;
  std::string reason;
};
IndexChoice ChooseIndex(const Table& table);

// Throws Error unless queries and policy fit the table, as Search promises.
// Returns how many queries there are.
int64_t CheckSearch(const Table& table, std::span<const std::byte> queries, const Policy& policy);

}  // namespace crossilo

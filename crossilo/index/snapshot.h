#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crossilo/index/recent_cache.h"
#include "crossilo/index/segment.h"
#include "crossilo/index/store.h"

namespace crossilo {

// A segment with the items in it that still count.
struct Part {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const Bitmap> live;  // null: all
  int64_t count = 0;                   // live items

  bool IsLive(uint32_t slot) const { return live == nullptr || live->Has(slot); }
};

// The items of a store at one moment: no id is live in two parts.  Shared by
// those who read it while the store goes on.  Safe to use from many threads.
class Snapshot {
 public:
  explicit Snapshot(std::vector<Part> parts);

  // As Store has them.
  std::vector<std::vector<Hit>> Search(int column, std::span<const std::byte> queries,
                                       const Policy& policy, const Filter& filter) const;
  std::optional<Item> Find(int64_t id) const;
  int64_t Count(int column, const Filter& filter) const;
  std::vector<std::pair<std::string, int64_t>> Silos() const;
  std::vector<std::pair<std::string, int64_t>> Classes() const;
  void ForEach(const std::function<bool(const Item&)>& visit) const;

  const std::vector<Part>& parts() const { return parts_; }

 private:
  using Names = std::vector<std::pair<std::string, int64_t>>;
  // The slots of a part that a search may return.
  struct Selection {
    std::shared_ptr<const Bitmap> slots;  // null: all
    int64_t count = 0;
  };

  void CheckColumn(int column) const;
  std::shared_ptr<const Selection> Select(size_t part, int column, const Filter& filter) const;
  Selection Combine(const Part& part, int column, const Filter& filter) const;
  Names CountNames(bool silos) const;

  std::vector<Part> parts_;
  mutable std::vector<RecentCache<Selection>> selections_;  // by part
  mutable RecentCache<Names> names_;
};

}  // namespace crossilo

#include "crossilo/index/contents.h"

#include <algorithm>
#include <utility>

namespace crossilo {
namespace {

constexpr size_t kMostRecent = 1 << 16;
// So many runs of about one size become one: each item is copied once for every
// fourfold growth, and a search visits a few runs of each size.
constexpr size_t kFanIn = 4;

std::vector<Part> PartsOf(const auto& runs) {
  std::vector<Part> parts;
  for (const auto& run : runs) parts.push_back({run.segment, run.live, run.count});
  return parts;
}

}  // namespace

Contents::Contents(std::shared_ptr<const Segment> base) : size_(base->size()) {
  runs_.push_back({.segment = std::move(base), .count = size_});
}

void Contents::Put(Item item) {
  Remove(item.id);
  const int64_t id = item.id;
  recent_.insert_or_assign(id, std::move(item));
  ++size_;
  if (recent_.size() >= kMostRecent) Flush();
}

bool Contents::Remove(int64_t id) {
  if (recent_.erase(id) > 0) {
    --size_;
    return true;
  }
  for (Run& run : runs_) {
    const std::optional<uint32_t> slot = run.segment->SlotOf(id);
    if (!slot || (run.live != nullptr && !run.live->Has(*slot))) continue;
    Kill(run, *slot);
    return true;
  }
  return false;
}

void Contents::Kill(Run& run, uint32_t slot) {
  if (run.live == nullptr) {
    run.live = std::make_shared<Bitmap>(run.segment->size(), true);
  } else if (run.published) {
    run.live = std::make_shared<Bitmap>(*run.live);
  }
  run.published = false;
  run.live->Clear(slot);
  --run.count;
  --size_;
}

bool Contents::Has(int64_t id) const {
  if (recent_.contains(id)) return true;
  return std::ranges::any_of(runs_, [&](const Run& run) {
    const std::optional<uint32_t> slot = run.segment->SlotOf(id);
    return slot && (run.live == nullptr || run.live->Has(*slot));
  });
}

std::optional<Item> Contents::Find(int64_t id) const {
  if (const auto found = recent_.find(id); found != recent_.end()) return found->second;
  return Snapshot(PartsOf(runs_)).Find(id);
}

void Contents::Flush() {
  if (recent_.empty()) return;
  SegmentWriter writer(schema(), {});
  for (const auto& [id, item] : recent_) writer.Add(item);
  runs_.push_back({.segment = std::make_shared<const Segment>(writer.ToImage()),
                   .count = static_cast<int64_t>(recent_.size())});
  recent_.clear();
  MergeRuns();
}

void Contents::MergeRuns() {
  while (true) {
    // The file is no run to be merged.
    size_t first = runs_.size() - 1;
    int64_t total = runs_.back().count;
    while (first > 1 && runs_[first - 1].count <= total) total += runs_[--first].count;
    if (runs_.size() - first < kFanIn) return;
    const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(first);
    SegmentWriter writer(schema(), {});
    Snapshot(PartsOf(std::vector<Run>(begin, runs_.end()))).ForEach([&](const Item& item) {
      writer.Add(item);
      return true;
    });
    runs_.erase(begin, runs_.end());
    if (total > 0) {
      runs_.push_back(
          {.segment = std::make_shared<const Segment>(writer.ToImage()), .count = total});
    }
  }
}

std::shared_ptr<const Snapshot> Contents::Publish() {
  Flush();
  for (Run& run : runs_) run.published = true;
  return std::make_shared<const Snapshot>(PartsOf(runs_));
}

}  // namespace crossilo

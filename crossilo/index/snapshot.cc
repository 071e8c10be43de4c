#include "crossilo/index/snapshot.h"

#include <algorithm>
#include <map>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"

namespace crossilo {

Snapshot::Snapshot(std::vector<Part> parts)
    : parts_(std::move(parts)), selections_(parts_.size()) {}

void Snapshot::CheckColumn(int column) const {
  const auto& columns = parts_.front().segment->schema().columns;
  if (column < 0 || column >= static_cast<int>(columns.size())) {
    throw Error("column {} of a store that has {}", column, fmt::join(columns, ", "));
  }
}

Snapshot::Selection Snapshot::Combine(const Part& part, int column, const Filter& filter) const {
  std::shared_ptr<const Bitmap> only;
  const auto keep = [&](std::shared_ptr<const Bitmap> slots) {
    if (slots == nullptr) return;
    if (only == nullptr) {
      only = std::move(slots);
    } else {
      auto both = std::make_shared<Bitmap>(*only);
      both->And(*slots);
      only = std::move(both);
    }
  };
  keep(part.live);
  keep(part.segment->HasCode(column));
  if (!filter.empty()) keep(part.segment->Allowed(filter));
  const int64_t count = only == nullptr ? part.segment->size() : only->Count();
  return {std::move(only), count};
}

std::shared_ptr<const Snapshot::Selection> Snapshot::Select(size_t part, int column,
                                                            const Filter& filter) const {
  ByteWriter key;
  key.U32(static_cast<uint32_t>(column));
  for (const auto* list : {&filter.silos, &filter.classes}) {
    key.U32(static_cast<uint32_t>(list->size()));
    for (const std::string& name : *list) key.Text(name);
  }
  return selections_[part].Get(key.bytes(), [&] { return Combine(parts_[part], column, filter); });
}

std::vector<std::vector<Hit>> Snapshot::Search(int column, std::span<const std::byte> queries,
                                               const Policy& policy, const Filter& filter) const {
  CheckColumn(column);
  if (policy.only != nullptr) throw Error("a store is filtered by names, not by slots");
  const Schema& schema = parts_.front().segment->schema();
  std::vector<std::vector<Hit>> found(
      CheckSearch({.bits = schema.bits, .dims = schema.dims}, queries, policy));
  for (size_t p = 0; p < parts_.size(); ++p) {
    const std::shared_ptr<const Selection> selection = Select(p, column, filter);
    if (selection->count == 0) continue;
    Policy here = policy;
    here.only = selection->slots.get();
    const auto hits = parts_[p].segment->index(column).Search(queries, here);
    for (size_t q = 0; q < hits.size(); ++q) {
      for (const SlotHit& hit : hits[q]) {
        found[q].push_back({parts_[p].segment->IdAt(hit.slot), hit.distance});
      }
    }
  }
  // Slots ascend by id in every part, so each part's hits are the nearest of it
  // in the order asked for, and so are the first k of all of them.
  for (auto& hits : found) {
    std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return Nearer(a, b); });
    if (static_cast<int64_t>(hits.size()) > policy.k) hits.resize(policy.k);
  }
  return found;
}

std::optional<Item> Snapshot::Find(int64_t id) const {
  for (const Part& part : parts_) {
    const std::optional<uint32_t> slot = part.segment->SlotOf(id);
    if (slot && part.IsLive(*slot)) return part.segment->ItemAt(*slot);
  }
  return {};
}

int64_t Snapshot::Count(int column, const Filter& filter) const {
  CheckColumn(column);
  int64_t count = 0;
  for (size_t p = 0; p < parts_.size(); ++p) count += Select(p, column, filter)->count;
  return count;
}

Snapshot::Names Snapshot::CountNames(bool silos) const {
  std::map<std::string, int64_t> counts;
  for (const Part& part : parts_) {
    const std::vector<int64_t> sets = part.segment->CountTags(part.live.get());
    for (size_t set = 0; set < sets.size(); ++set) {
      if (sets[set] == 0) continue;
      const Tags tags = part.segment->TagSet(set);
      const std::set<std::string> names =
          silos ? std::set{tags.silo} : std::set(tags.classes.begin(), tags.classes.end());
      for (const std::string& name : names) counts[name] += sets[set];
    }
  }
  return {counts.begin(), counts.end()};
}

Snapshot::Names Snapshot::Silos() const {
  return *names_.Get("silos", [&] { return CountNames(true); });
}

Snapshot::Names Snapshot::Classes() const {
  return *names_.Get("classes", [&] { return CountNames(false); });
}

void Snapshot::ForEach(const std::function<bool(const Item&)>& visit) const {
  std::vector<uint32_t> next(parts_.size(), 0);
  while (true) {
    size_t lowest = parts_.size();
    for (size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      while (next[p] < part.segment->size() && !part.IsLive(next[p])) ++next[p];
      if (next[p] >= part.segment->size()) continue;
      if (lowest == parts_.size() ||
          part.segment->IdAt(next[p]) < parts_[lowest].segment->IdAt(next[lowest])) {
        lowest = p;
      }
    }
    if (lowest == parts_.size()) return;
    if (!visit(parts_[lowest].segment->ItemAt(next[lowest]++))) return;
  }
}

}  // namespace crossilo

#include <algorithm>
#include <bit>

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/segment.h"

// The second half of Segment: what searching asks of it.

namespace crossilo {
namespace {

bool Lets(const Filter& filter, const Tags& tags) {
  const auto names = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  return (filter.silos.empty() || names(filter.silos, tags.silo)) &&
         (filter.classes.empty() || std::ranges::any_of(tags.classes, [&](const auto& name) {
            return names(filter.classes, name);
          }));
}

}  // namespace

std::unique_ptr<Index> Segment::MakeIndex(const Column& column) const {
  const Table table{
      .rows = column.codes.data(), .size = size(), .bits = schema().bits, .dims = schema().dims};
  if (table.real_valued()) return MakeCosineIndex(table);
  if (index_ == "flat" || size() == 0) return MakeFlatIndex(table);
  if (column.mih.empty()) {
    if (index_ == "auto") return MakeFlatIndex(table);
    throw Error(
        "{}: has no tables for multi-index hashing; build it with index = mih, or search "
        "it with index = auto",
        where_);
  }
  std::unique_ptr<Index> mih = MakeMihIndex(table, column.mih);
  return index_ == "mih" ? std::move(mih) : MakeAutoIndex(MakeFlatIndex(table), std::move(mih));
}

const Index& Segment::index(int number) const {
  Column& column = *columns_.at(number);
  std::call_once(column.indexed, [&] { column.index = MakeIndex(column); });
  return *column.index;
}

std::shared_ptr<const Bitmap> Segment::HasCode(int number) const {
  Column& column = *columns_.at(number);
  std::call_once(column.counted, [&] {
    if (column.has_code.empty()) return;
    Bitmap present(size());
    for (int64_t slot = 0; slot < size(); ++slot) {
      if (std::to_integer<int>(column.has_code[slot / 8]) >> slot % 8 & 1) present.Set(slot);
    }
    column.present = std::make_shared<const Bitmap>(std::move(present));
  });
  return column.present;
}

std::shared_ptr<const Bitmap> Segment::Allowed(const Filter& filter) const {
  ByteWriter key;
  for (const auto* list : {&filter.silos, &filter.classes}) {
    key.U32(static_cast<uint32_t>(list->size()));
    for (const std::string& name : *list) key.Text(name);
  }
  return allowed_.Get(key.bytes(), [&] {
    std::vector<char> allowed(tag_ends_.size() / 8);
    for (size_t set = 0; set < allowed.size(); ++set) allowed[set] = Lets(filter, TagSet(set));
    Bitmap slots(size());
    for (int64_t slot = 0; slot < size(); ++slot) {
      const auto set = NumberAt<uint32_t>(tags_, slot);
      if (set < allowed.size() && allowed[set]) slots.Set(slot);
    }
    return slots;
  });
}

std::vector<int64_t> Segment::CountTags(const Bitmap* live) const {
  std::vector<int64_t> counts(tag_ends_.size() / 8);
  for (int64_t slot = 0; slot < size(); ++slot) {
    const auto set = NumberAt<uint32_t>(tags_, slot);
    if (set < counts.size() && (live == nullptr || live->Has(slot))) ++counts[set];
  }
  return counts;
}

}  // namespace crossilo

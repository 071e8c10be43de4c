#include "crossilo/index/segment.h"

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"

namespace crossilo {
namespace {

uint64_t BitmapBytes(int64_t count) { return (static_cast<uint64_t>(count) + 63) / 64 * 8; }

bool BitAt(std::span<const std::byte> bitmap, uint32_t slot) {
  return bitmap.empty() || (std::to_integer<int>(bitmap[slot / 8]) >> slot % 8 & 1) != 0;
}

}  // namespace

Segment::Segment(const std::filesystem::path& path, const std::string& index)
    : file_(path), bytes_(file_->bytes()), where_(path.string()), index_(index) {
  Open();
}

Segment::Segment(Image image)
    : image_(std::move(image)), bytes_(image_.bytes()), where_("memory"), index_("flat") {
  Open();
}

std::span<const std::byte> Segment::Take(std::string_view name, uint32_t column,
                                         std::optional<uint64_t> size, bool required) const {
  const Section* section = header_.Find(name, column);
  if (section == nullptr) {
    if (required && size.value_or(1) > 0) throw Error("{}: section '{}' is missing", where_, name);
    return {};
  }
  if (size && section->length != *size) {
    throw Error("{}: section '{}' has {} bytes where {} items take {}", where_, name,
                section->length, header_.count, *size);
  }
  return bytes_.subspan(section->offset, section->length);
}

void Segment::Open() {
  header_ = ParseHeader(bytes_, where_);
  const auto count = static_cast<uint64_t>(header_.count);
  ids_ = Take("ids", 0, count * 8, false);
  id_table_ = Take("idtable", 0, IdTableSize(header_.count) * 4, !ids_.empty());
  tags_ = Take("tags", 0, count * 4, true);
  tag_ends_ = Take("tagends", 0, {}, count > 0);
  tag_sets_ = Take("tagsets", 0, {}, count > 0);
  fact_ends_ = Take("factends", 0, count * 8, true);
  facts_ = Take("facts", 0, {}, count > 0);
  if (tag_ends_.size() % 8 != 0) throw Error("{}: section 'tagends' is no list of offsets", where_);
  for (uint32_t c = 0; c < header_.schema.columns.size(); ++c) OpenColumn(c);
}

void Segment::OpenColumn(uint32_t number) {
  const auto count = static_cast<uint64_t>(header_.count);
  auto column = std::make_unique<Column>();
  column->codes = Take("codes", number, count * RowBytes(header_.schema), true);
  column->has_code = Take("hascode", number, BitmapBytes(header_.count), false);
  column->mih = Take("mih", number, {}, false);
  if (!header_.schema.vector_dims.empty()) {
    const auto dims = static_cast<uint64_t>(header_.schema.vector_dims[number]);
    column->vectors = Take("vectors", number, count * dims * 2, false);
    column->has_vector = Take("hasvec", number, BitmapBytes(header_.count), false);
  }
  columns_.push_back(std::move(column));
}

int64_t Segment::IdAt(uint32_t slot) const {
  return ids_.empty() ? slot : NumberAt<int64_t>(ids_, slot);
}

std::optional<uint32_t> Segment::SlotOf(int64_t id) const {
  if (ids_.empty()) {
    if (id < 0 || id >= size()) return {};
    return static_cast<uint32_t>(id);
  }
  const uint64_t entries = IdTableSize(size());
  uint64_t at = IdTableStart(id, entries);
  for (int looks = 0; looks < kIdTableLooks; ++looks) {
    const auto slot = NumberAt<uint32_t>(id_table_, at);
    if (slot >= size()) return {};
    if (NumberAt<int64_t>(ids_, slot) == id) return slot;
    at = at + 1 < entries ? at + 1 : 0;
  }
  return SlotByHalving(id);
}

std::optional<uint32_t> Segment::SlotByHalving(int64_t id) const {
  int64_t first = 0, count = size();
  while (count > 0) {
    const int64_t half = count / 2;
    const bool below = NumberAt<int64_t>(ids_, first + half) < id;
    first += below ? half + 1 : 0;
    count = below ? count - half - 1 : half;
  }
  if (first == size() || NumberAt<int64_t>(ids_, first) != id) return {};
  return static_cast<uint32_t>(first);
}

std::string_view Segment::TextAt(std::span<const std::byte> ends, std::span<const std::byte> texts,
                                 size_t i) const {
  if (i >= ends.size() / 8) throw Error("{}: a tag set that is not there; it is damaged", where_);
  const uint64_t begin = i == 0 ? 0 : NumberAt<uint64_t>(ends, i - 1);
  const auto end = NumberAt<uint64_t>(ends, i);
  if (begin > end || end > texts.size()) {
    throw Error("{}: a text from {} to {} of {} bytes; it is damaged", where_, begin, end,
                texts.size());
  }
  return AsText(texts.subspan(begin, end - begin));
}

Tags Segment::TagSet(size_t number) const {
  return DecodeTags(TextAt(tag_ends_, tag_sets_, number));
}

Item Segment::ItemAt(uint32_t slot) const {
  Item item{.id = IdAt(slot)};
  Tags tags = TagSet(NumberAt<uint32_t>(tags_, slot));
  item.silo = std::move(tags.silo);
  item.classes = std::move(tags.classes);
  item.facts = TextAt(fact_ends_, facts_, slot);
  const size_t row = RowBytes(schema());
  for (size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = *columns_[c];
    const auto code = column.codes.subspan(slot * row, row);
    item.codes.emplace_back(code.begin(), BitAt(column.has_code, slot) ? code.end() : code.begin());
    if (schema().vector_dims.empty()) continue;
    item.vectors.emplace_back();
    if (column.vectors.empty() || !BitAt(column.has_vector, slot)) continue;
    const size_t bytes = size_t{2} * schema().vector_dims[c];
    item.vectors.back() = DecodeHalves(AsText(column.vectors.subspan(slot * bytes, bytes)));
  }
  return item;
}

void Segment::Verify() const {
  uint64_t end = NumberAt<uint32_t>(bytes_, 5);  // of the header, which Open has compared
  for (const Section& section : header_.sections) {
    for (uint64_t at = end; at < section.offset; ++at) {
      if (bytes_[at] != std::byte{0}) throw Error("{}: byte {} is damaged", where_, at);
    }
    end = section.offset + section.length;
    if (Checksum(AsText(bytes_.subspan(section.offset, section.length))) != section.checksum) {
      throw Error(
          "{}: section '{}' is damaged; restore the file from a copy (to another name, then mv), "
          "or build it again",
          where_, section.name);
    }
  }
  for (int64_t slot = 1; slot < size() && !ids_.empty(); ++slot) {
    if (NumberAt<int64_t>(ids_, slot - 1) >= NumberAt<int64_t>(ids_, slot)) {
      throw Error("{}: the ids do not ascend; whatever wrote it did it wrong", where_);
    }
  }
}

}  // namespace crossilo

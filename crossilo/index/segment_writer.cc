#include "crossilo/index/segment_writer.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/item_bytes.h"

namespace crossilo {
namespace {

template <typename T>
void AppendNumber(Spool& spool, T value) {
  spool.Append({reinterpret_cast<const char*>(&value), sizeof value});
}

std::string_view RowOf(Spool& spool, int64_t i, size_t row_bytes) {
  return AsText(spool.bytes().subspan(static_cast<size_t>(i) * row_bytes, row_bytes));
}

std::string_view TextOf(Spool& ends, Spool& texts, size_t i) {
  const uint64_t begin = i == 0 ? 0 : NumberAt<uint64_t>(ends.bytes(), i - 1);
  return AsText(texts.bytes()).substr(begin, NumberAt<uint64_t>(ends.bytes(), i) - begin);
}

}  // namespace

SegmentWriter::SegmentWriter(const Schema& schema, std::filesystem::path spool_folder)
    : schema_(schema),
      folder_(std::move(spool_folder)),
      ids_(folder_),
      tags_(folder_),
      fact_ends_(folder_),
      facts_(folder_),
      tag_ends_(folder_),
      tag_sets_(folder_) {
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    columns_.push_back({.codes = Spool(folder_), .vectors = Spool(folder_)});
  }
}

void SegmentWriter::Add(const Item& item) {
  CheckItem(schema_, item);
  if (count_ >= kMostItems) throw Error("more than {} items; make two stores of them", kMostItems);
  ascending_ = ascending_ && item.id > last_id_;
  last_id_ = item.id;
  ++count_;
  AppendNumber(ids_, item.id);
  AppendNumber(tags_, TagNumber(item));
  facts_.Append(item.facts);
  AppendNumber(fact_ends_, facts_.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    AddColumn(columns_[c], item.codes[c],
              item.vectors.empty() ? std::vector<float>{} : item.vectors[c],
              schema_.vector_dims.empty() ? 0 : schema_.vector_dims[c]);
  }
}

void SegmentWriter::AddColumn(Column& column, const std::vector<std::byte>& code,
                              const std::vector<float>& vector, int vector_dims) {
  column.has_code.Append(!code.empty());
  column.codes.Append(code.empty() ? std::string(RowBytes(schema_), '\0') : AsText(code));
  if (vector_dims == 0) return;
  column.has_vector.Append(!vector.empty());
  column.vectors.Append(vector.empty() ? std::string(size_t{2} * vector_dims, '\0')
                                       : EncodeHalves(vector));
}

uint32_t SegmentWriter::TagNumber(const Item& item) {
  const std::string tags = EncodeTags(item.silo, item.classes);
  const auto [at, added] = tag_numbers_.emplace(tags, tag_numbers_.size());
  if (added) {
    tag_sets_.Append(tags);
    AppendNumber(tag_ends_, tag_sets_.size());
  }
  return at->second;
}

Item SegmentWriter::Added(int64_t i) {
  Item item{.id = NumberAt<int64_t>(ids_.bytes(), i)};
  Tags tags = DecodeTags(TextOf(tag_ends_, tag_sets_, NumberAt<uint32_t>(tags_.bytes(), i)));
  item.silo = std::move(tags.silo);
  item.classes = std::move(tags.classes);
  item.facts = TextOf(fact_ends_, facts_, i);
  for (size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    const auto code = std::as_bytes(std::span(RowOf(column.codes, i, RowBytes(schema_))));
    item.codes.emplace_back(code.begin(), column.has_code.Has(i) ? code.end() : code.begin());
    if (schema_.vector_dims.empty()) continue;
    const size_t bytes = size_t{2} * schema_.vector_dims[c];
    const bool has = bytes > 0 && column.has_vector.Has(i);
    item.vectors.push_back(has ? DecodeHalves(RowOf(column.vectors, i, bytes))
                               : std::vector<float>{});
  }
  return item;
}

void SegmentWriter::Sort() {
  const auto id = [&](uint32_t i) { return NumberAt<int64_t>(ids_.bytes(), i); };
  std::vector<uint32_t> order(count_);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return id(a) < id(b); });
  for (size_t i = 1; i < order.size(); ++i) {
    if (id(order[i - 1]) == id(order[i])) {
      throw Error("two items of the id {}; ids name one item each", id(order[i]));
    }
  }
  // Added anew, because tag sets are numbered in the order of the slots.
  SegmentWriter sorted(schema_, folder_);
  for (const uint32_t i : order) sorted.Add(Added(i));
  *this = std::move(sorted);
}

}  // namespace crossilo

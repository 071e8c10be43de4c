#include <cmath>
#include <set>
#include <span>

#include "crossilo/base/error.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/half.h"
#include "crossilo/index/item_bytes.h"

// What a schema and an item must be.

namespace crossilo {
namespace {

constexpr size_t kMostColumns = 64, kMostName = 256, kMostText = 1 << 16;
constexpr int kMostDims = 1 << 16;
// Together an item stays below what a log's record can hold.
constexpr size_t kMostFacts = 16u << 20, kMostTag = 4096, kMostClasses = 4096;

void CheckVectorDims(const Schema& schema) {
  if (schema.vectors.empty() != schema.vector_dims.empty() ||
      (!schema.vectors.empty() && schema.vector_dims.size() != schema.columns.size())) {
    throw Error("{} vector lengths for {} columns of vectors '{}'; name one a column, or neither",
                schema.vector_dims.size(), schema.columns.size(), schema.vectors);
  }
  for (const int dims : schema.vector_dims) {
    if (dims < 0 || dims > kMostDims) throw Error("vectors of {} values; 0 to 65536", dims);
  }
}

void CheckRow(const Schema& schema, int64_t id, std::span<const std::byte> row) {
  if (schema.dims > 0) {
    for (int i = 0; i < schema.dims; ++i) {
      if (!std::isfinite(NumberAt<float>(row, i))) {
        throw Error("item {}: value {} of a row is not finite", id, i);
      }
    }
    return;
  }
  for (size_t i = schema.bits / 8; i < row.size(); ++i) {
    if (row[i] != std::byte{0})
      throw Error("item {}: a code has more than {} bits", id, schema.bits);
  }
}

void CheckVector(int64_t id, const std::vector<float>& values, int dims) {
  if (values.empty()) return;
  if (values.size() != static_cast<size_t>(dims)) {
    throw Error("item {}: a vector of {} values where the store has {}", id, values.size(), dims);
  }
  for (const float value : values) {
    if (!(std::abs(value) <= kMostHalf)) {
      throw Error("item {}: {} in a vector; float16 reaches 65504, so scale them", id, value);
    }
  }
}

void CheckTexts(const Item& item) {
  if (item.facts.size() > kMostFacts) {
    throw Error("item {}: {} bytes of facts; at most {}", item.id, item.facts.size(), kMostFacts);
  }
  bool fits = item.silo.size() <= kMostTag && item.classes.size() <= kMostClasses;
  for (const std::string& name : item.classes) fits = fits && name.size() <= kMostTag;
  if (!fits) {
    throw Error("item {}: a silo or class name above {} bytes, or more than {} classes", item.id,
                kMostTag, kMostClasses);
  }
}

}  // namespace

void CheckSchema(const Schema& schema) {
  if (schema.columns.empty() || schema.columns.size() > kMostColumns) {
    throw Error("{} columns; a store has 1 to {}", schema.columns.size(), kMostColumns);
  }
  for (const std::string& name : schema.columns) {
    if (name.empty() || name.size() > kMostName) throw Error("'{}' cannot name a column", name);
  }
  if (std::set(schema.columns.begin(), schema.columns.end()).size() != schema.columns.size()) {
    throw Error("two columns of one name: {}", fmt::join(schema.columns, ", "));
  }
  const bool bits = schema.bits >= 8 && schema.bits <= 1024 && schema.bits % 8 == 0;
  if (schema.dims == 0 ? !bits : schema.bits != 0 || schema.dims < 0 || schema.dims > kMostDims) {
    throw Error(
        "codes of {} bits and rows of {} values; either bits, a multiple of 8 from 8 to "
        "1024, or 1 to 65536 values",
        schema.bits, schema.dims);
  }
  CheckVectorDims(schema);
  for (const std::string* text : {&schema.vectors, &schema.model, &schema.choice}) {
    if (text->size() > kMostText) throw Error("a text of {} bytes in a schema", text->size());
  }
}

size_t RowBytes(const Schema& schema) {
  return schema.dims > 0 ? size_t{4} * schema.dims : RowBytes(schema.bits);
}

void CheckItem(const Schema& schema, const Item& item) {
  const size_t columns = schema.columns.size(), row = RowBytes(schema);
  if (item.id < 0) throw Error("item {}: ids are 0 or more", item.id);
  CheckTexts(item);
  if (item.codes.size() != columns) {
    throw Error("item {}: codes for {} columns of {}", item.id, item.codes.size(), columns);
  }
  for (const auto& code : item.codes) {
    if (code.empty()) continue;
    if (code.size() != row) {
      throw Error("item {}: a row of {} bytes where the store has {}; code it with the same model",
                  item.id, code.size(), row);
    }
    CheckRow(schema, item.id, code);
  }
  if (!item.vectors.empty() && item.vectors.size() != schema.vector_dims.size()) {
    throw Error("item {}: vectors for {} columns of {}", item.id, item.vectors.size(),
                schema.vector_dims.size());
  }
  for (size_t c = 0; c < item.vectors.size(); ++c) {
    CheckVector(item.id, item.vectors[c], schema.vector_dims[c]);
  }
}

}  // namespace crossilo

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crossilo/index/store.h"

namespace crossilo {

// How items stand in files (docs/FORMATS.md), and what an item must be to get
// there.

// Throws Error unless a store can have it.
void CheckSchema(const Schema& schema);

// Throws Error where the item is not one of this schema: a negative id, a row
// or vector of another length, a bit above `bits`, a value that is not finite
// or beyond float16.
void CheckItem(const Schema& schema, const Item& item);

// Bytes of one row of a column.
size_t RowBytes(const Schema& schema);

struct Tags {
  std::string silo;
  std::vector<std::string> classes;
};
std::string EncodeTags(const std::string& silo, const std::vector<std::string>& classes);
Tags DecodeTags(std::string_view bytes);

// The payload of a log's `put`.  Vectors are rounded to float16, so what comes
// back is what a file would give.  DecodeItem throws Error where the bytes are
// no item of this schema.
std::string EncodeItem(const Schema& schema, const Item& item);
Item DecodeItem(const Schema& schema, std::string_view bytes);

// float16 values, as bytes.
std::string EncodeHalves(const std::vector<float>& values);
std::vector<float> DecodeHalves(std::string_view bytes);

}  // namespace crossilo

#include "crossilo/index/item_bytes.h"

#include <cstring>
#include <span>

#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/half.h"

namespace crossilo {

std::string EncodeTags(const std::string& silo, const std::vector<std::string>& classes) {
  ByteWriter out;
  out.Text(silo);
  out.U32(static_cast<uint32_t>(classes.size()));
  for (const std::string& name : classes) out.Text(name);
  return std::move(out.bytes());
}

Tags DecodeTags(std::string_view bytes) {
  ByteReader in(bytes, "a tag set");
  Tags tags{.silo = std::string(in.Text())};
  for (uint32_t left = in.U32(); left > 0; --left) tags.classes.emplace_back(in.Text());
  in.Finish();
  return tags;
}

std::string EncodeHalves(const std::vector<float>& values) {
  std::string bytes(values.size() * 2, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = ToHalf(values[i]);
    std::memcpy(bytes.data() + i * 2, &half, 2);
  }
  return bytes;
}

std::vector<float> DecodeHalves(std::string_view bytes) {
  std::vector<float> values(bytes.size() / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = FromHalf(NumberAt<uint16_t>(std::as_bytes(std::span(bytes)), i));
  }
  return values;
}

std::string EncodeItem(const Schema& schema, const Item& item) {
  ByteWriter out;
  out.U64(static_cast<uint64_t>(item.id));
  out.Text(EncodeTags(item.silo, item.classes));
  out.Text(item.facts);
  for (const auto& code : item.codes) out.Text(AsText(code));
  for (size_t c = 0; c < schema.vector_dims.size(); ++c) {
    out.Text(item.vectors.empty() ? "" : EncodeHalves(item.vectors[c]));
  }
  return std::move(out.bytes());
}

Item DecodeItem(const Schema& schema, std::string_view bytes) {
  ByteReader in(bytes, "an item in the log");
  Item item{.id = static_cast<int64_t>(in.U64())};
  Tags tags = DecodeTags(in.Text());
  item.silo = std::move(tags.silo);
  item.classes = std::move(tags.classes);
  item.facts = in.Text();
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const auto code = std::as_bytes(std::span(in.Text()));
    item.codes.emplace_back(code.begin(), code.end());
  }
  for (size_t c = 0; c < schema.vector_dims.size(); ++c) {
    item.vectors.push_back(DecodeHalves(in.Text()));
  }
  in.Finish();
  CheckItem(schema, item);
  return item;
}

}  // namespace crossilo

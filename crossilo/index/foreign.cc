// The bytes are described in docs/FORMATS.md, after faiss/impl/index_write.cpp
// of faiss 1.7.3 and 1.15.1.
#include "crossilo/index/foreign.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

constexpr int64_t kMostCodes = 0xFFFFFFFF;  // see Table

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes = {{
    {"IBxF", "IndexBinaryFlat"},
    {"IBMp", "IndexBinaryIDMap"},
    {"IBM2", "IndexBinaryIDMap2"},
    {"IBwF", "IndexBinaryIVF"},
    {"IBFf", "IndexBinaryFromFloat"},
    {"IBHf", "IndexBinaryHNSW"},
    {"IBHc", "IndexBinaryHNSWCagra"},
    {"IBHh", "IndexBinaryHash"},
    {"IBHm", "IndexBinaryMultiHash"},
    {"null", "index that is null"},
}};

class Reader {
 public:
  Reader(std::string where, std::span<const std::byte> bytes)
      : where_(std::move(where)), bytes_(bytes) {}

  const std::string& where() const { return where_; }
  size_t left() const { return bytes_.size(); }

  std::span<const std::byte> Take(uint64_t n) {
    if (n > bytes_.size()) {
      throw Error("{}: ends {} bytes too early; it is not whole", where_, n - bytes_.size());
    }
    const auto taken = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return taken;
  }

  // Little-endian.
  uint64_t Number(int bytes) {
    uint64_t value = 0;
    int shift = 0;
    for (const std::byte b : Take(bytes)) {
      value |= std::to_integer<uint64_t>(b) << shift;
      shift += 8;
    }
    return value;
  }

 private:
  std::string where_;
  std::span<const std::byte> bytes_;
};

std::string Type(Reader& file) {
  const auto bytes = file.Take(4);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void RefuseType(const Reader& file, const std::string& type) {
  const auto* known = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& named) { return named.first == type; });
  if (known != kTypes.end()) {
    throw Error(
        "{}: holds a faiss {} (\"{}\"); only IndexBinaryFlat, or an IndexBinaryIDMap around one, "
        "can be read: add its codes to one of those and write that",
        file.where(), known->second, type);
  }
  if (type.starts_with("I") &&
      std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~'; })) {
    throw Error("{}: holds a faiss index \"{}\" that is not one of binary codes", file.where(),
                type);
  }
  throw Error("{}: is no faiss index", file.where());
}

struct Header {
  int bits = 0;
  int64_t size = 0;

  bool operator==(const Header&) const = default;
};

// Around another index faiss 1.7.3 leaves the code's size at 0.
enum class Place { kAround, kFlat };

Header ReadHeader(Reader& file, Place place) {
  const uint64_t d = file.Number(4), code_size = file.Number(4), ntotal = file.Number(8);
  const uint64_t is_trained = file.Number(1);
  file.Number(4);  // metric_type
  if (d < 8 || d > 1024 || d % 8 != 0) {
    throw Error("{}: codes of {} bits; a multiple of 8 from 8 to 1024 can be read", file.where(),
                static_cast<int32_t>(d));
  }
  if (code_size != d / 8 && (code_size != 0 || place == Place::kFlat)) {
    throw Error("{}: codes of {} bits in {} bytes; it is damaged", file.where(), d,
                static_cast<int32_t>(code_size));
  }
  if (ntotal > kMostCodes) {
    throw Error("{}: says it has {} codes; at most {} can be read", file.where(),
                static_cast<int64_t>(ntotal), kMostCodes);
  }
  if (is_trained > 1)
    throw Error("{}: a flag has the value {}; it is damaged", file.where(), is_trained);
  return {static_cast<int>(d), static_cast<int64_t>(ntotal)};
}

// A vector of `count` values, behind its length.
std::span<const std::byte> ReadVector(Reader& file, uint64_t count, uint64_t value_bytes) {
  const uint64_t length = file.Number(8);
  if (length != count) {
    throw Error("{}: a list of {} values where {} belong; it is damaged", file.where(), length,
                count);
  }
  return file.Take(count * value_bytes);  // the count is below 2^32 * 128
}

PackedCodes ReadFlat(Reader& file, const Header& header) {
  const auto bytes = ReadVector(file, static_cast<uint64_t>(header.size) * header.bits / 8, 1);
  return PackedCodes::FromBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                header.size, header.bits);
}

std::vector<int64_t> ReadIds(Reader& file, int64_t size) {
  Reader numbers(file.where(), ReadVector(file, static_cast<uint64_t>(size), 8));
  std::vector<int64_t> ids(static_cast<size_t>(size));
  for (int64_t& id : ids) {
    id = static_cast<int64_t>(numbers.Number(8));
    if (id < 0) throw Error("{}: an id is {}; ids must not be negative", file.where(), id);
  }
  return ids;
}

}  // namespace

ForeignCodes ReadFaiss(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  return ParseFaiss(mapped.bytes(), path.string());
}

ForeignCodes ParseFaiss(std::span<const std::byte> bytes, const std::string& where) {
  Reader file(where, bytes);
  ForeignCodes read;
  const std::string type = Type(file);
  const bool with_ids = type == "IBMp" || type == "IBM2";
  if (!with_ids && type != "IBxF") RefuseType(file, type);
  const Header header = ReadHeader(file, with_ids ? Place::kAround : Place::kFlat);
  if (with_ids) {
    if (const std::string inner = Type(file); inner != "IBxF") RefuseType(file, inner);
    if (ReadHeader(file, Place::kFlat) != header) {
      throw Error("{}: ids and codes differ in number or length; it is damaged", file.where());
    }
  }
  read.codes = ReadFlat(file, header);
  if (with_ids) read.ids = ReadIds(file, header.size);
  if (file.left() > 0) {
    throw Error("{}: {} bytes follow the index; it is damaged", file.where(), file.left());
  }
  return read;
}

}  // namespace crossilo

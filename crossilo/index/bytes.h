#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "crossilo/base/error.h"

namespace crossilo {

// Numbers and texts one after another, little-endian; a text is its length in
// 4 bytes and its bytes.
class ByteWriter {
 public:
  void U32(uint32_t value) { Raw({reinterpret_cast<const char*>(&value), sizeof value}); }
  void U64(uint64_t value) { Raw({reinterpret_cast<const char*>(&value), sizeof value}); }
  void Text(std::string_view text) {
    U32(static_cast<uint32_t>(text.size()));
    Raw(text);
  }
  void Raw(std::string_view bytes) { bytes_.append(bytes); }
  void PadTo(size_t multiple) {
    bytes_.resize((bytes_.size() + multiple - 1) / multiple * multiple);
  }

  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

// The inverse, for bytes that nobody vouches for.  Throws Error, naming what
// is read, where they end too soon.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view what) : left_(bytes), what_(what) {}

  uint32_t U32() { return Number<uint32_t>(); }
  uint64_t U64() { return Number<uint64_t>(); }
  std::string_view Text() { return Raw(U32()); }
  std::string_view Raw(uint64_t size) {
    if (size > left_.size()) throw Error("{} ends too soon; it is damaged", what_);
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  size_t left() const { return left_.size(); }
  void Finish() const {
    if (!left_.empty()) throw Error("{} is longer than it says; it is damaged", what_);
  }

 private:
  template <typename T>
  T Number() {
    T value;
    std::memcpy(&value, Raw(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view left_, what_;
};

// Number i of a section; the caller has checked that it is there.
template <typename T>
T NumberAt(std::span<const std::byte> section, size_t i) {
  T value;
  std::memcpy(&value, section.data() + i * sizeof value, sizeof value);
  return value;
}

}  // namespace crossilo

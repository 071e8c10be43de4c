#include "crossilo/data/mat_check.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "crossilo/base/error.h"
#include "crossilo/data/apart.h"
#include "crossilo/data/inflate.h"

namespace crossilo {
namespace {

// "MAT-File Format", The MathWorks, R2023a: 128 bytes of header, then elements
// that each begin with a type and a size of four bytes.
constexpr size_t kHeader = 128, kTag = 8;
constexpr uint32_t kMatrix = 14, kCompressed = 15;

uint32_t Word(std::span<const std::byte> file, size_t at, bool swapped) {
  uint32_t value;
  std::memcpy(&value, file.data() + at, 4);
  return swapped ? __builtin_bswap32(value) : value;
}

// A thousand bytes for each that is stored, and never more than 8 GiB: enough
// for any table of words, too little for a damaged size to fill the memory.
uint64_t MostFilled(uint64_t stored) {
  constexpr uint64_t kLeast = uint64_t{64} << 20, kMost = uint64_t{8} << 30;
  return std::min(kMost, kLeast + 1000 * stored);
}

[[noreturn]] void Damaged(const std::string& origin) {
  throw Error("{}: is damaged: its parts do not fit together; copy it again", origin);
}

}  // namespace

MatOutline CheckMat(std::span<const std::byte> file, const std::string& origin) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const bool swapped = text.size() >= kHeader && text.substr(126, 2) == "MI";
  if (text.size() < kHeader || (!swapped && text.substr(126, 2) != "IM")) {
    throw Error("{}: not a MATLAB file of version 5 to 7.3; save it with -v7 or -v7.3", origin);
  }
  const char version = text[swapped ? 124 : 125];
  if (version == 2) {
    if (text.size() < 520 || text.substr(512, 8) != "\x89HDF\r\n\x1a\n") Damaged(origin);
    return {true, -1, MostUnpacked(text.size()), MostFilled(text.size())};
  }
  if (version != 1) throw Error("{}: a MATLAB file of an unknown version", origin);
  MatOutline outline{false, 0, 0, 0};
  for (size_t at = kHeader; at < file.size();) {
    if (file.size() - at < kTag) Damaged(origin);
    const uint32_t type = Word(file, at, swapped), size = Word(file, at + 4, swapped);
    at += kTag;
    if (size > file.size() - at || (type != kMatrix && type != kCompressed)) Damaged(origin);
    uint64_t bytes = size;
    if (type == kCompressed) {
      const auto unpacked = InflatedSize(file.subspan(at, size));
      if (!unpacked) Damaged(origin);
      bytes = *unpacked;
    }
    outline.most_bytes = std::max(outline.most_bytes, bytes);
    ++outline.variables;
    at += size;
  }
  outline.most_filled = MostFilled(outline.most_bytes);
  return outline;
}

}  // namespace crossilo

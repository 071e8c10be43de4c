#include "crossilo/data/zip.h"

#include <zlib.h>

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/data/inflate.h"

namespace crossilo {
namespace {

// PKWARE's APPNOTE.TXT, 4.3 and 4.5, has all numbers and offsets below.
constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;

[[noreturn]] void Damaged(const std::string& origin, const char* what) {
  throw Error("{}: not a whole zip file: {}; copy it again", origin, what);
}

// Little-endian numbers, every bound checked.
struct Reader {
  std::span<const std::byte> bytes;
  const std::string& origin;

  uint64_t At(uint64_t offset, int width) const {
    if (offset > bytes.size() || bytes.size() - offset < static_cast<size_t>(width)) {
      Damaged(origin, "it is cut short");
    }
    uint64_t value = 0;
    for (int i = width; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[offset + i]);
    return value;
  }
  std::span<const std::byte> Sub(uint64_t offset, uint64_t size) const {
    if (offset > bytes.size() || size > bytes.size() - offset) {
      Damaged(origin, "a part lies outside the file");
    }
    return bytes.subspan(offset, size);
  }
};

struct Directory {
  uint64_t entries, offset;
};

// The end record is the last thing in the file but for a comment.
Directory FindDirectory(const Reader& reader) {
  constexpr size_t kSize = 22, kLongestComment = 65535;
  const size_t size = reader.bytes.size();
  if (size < kSize) Damaged(reader.origin, "it is shorter than a directory");
  const size_t first = size - std::min(size, kSize + kLongestComment);
  for (size_t at = size - kSize + 1; at-- > first;) {
    if (reader.At(at, 4) != kEnd || reader.At(at + 20, 2) != size - at - kSize) continue;
    if (reader.At(at + 4, 2) != 0) Damaged(reader.origin, "it is one of several parts");
    Directory found{reader.At(at + 10, 2), reader.At(at + 16, 4)};
    if (at >= 20 && reader.At(at - 20, 4) == kLocator64) {
      const uint64_t end64 = reader.At(at - 20 + 8, 8);
      if (reader.At(end64, 4) != kEnd64) Damaged(reader.origin, "its zip64 record is missing");
      found = {reader.At(end64 + 32, 8), reader.At(end64 + 48, 8)};
    }
    return found;
  }
  Damaged(reader.origin, "it has no directory");
}

// Fields that do not fit 32 bits stand in an extra field, in this order.
void ReadZip64(const Reader& extra, uint64_t& size, uint64_t& packed, uint64_t& local) {
  for (uint64_t at = 0; at + 4 <= extra.bytes.size(); at += 4 + extra.At(at + 2, 2)) {
    if (extra.At(at, 2) != 1) continue;
    uint64_t field = at + 4;
    for (uint64_t* value : {&size, &packed, &local}) {
      if (*value != 0xFFFFFFFF) continue;
      *value = extra.At(field, 8);
      field += 8;
    }
  }
}

ZipMember ReadEntry(const Reader& reader, uint64_t at, uint64_t& next) {
  if (reader.At(at, 4) != kCentral) Damaged(reader.origin, "its directory is broken");
  const uint64_t flags = reader.At(at + 8, 2), method = reader.At(at + 10, 2);
  uint64_t packed = reader.At(at + 20, 4), local = reader.At(at + 42, 4);
  ZipMember member;
  member.crc = static_cast<uint32_t>(reader.At(at + 16, 4));
  member.size = reader.At(at + 24, 4);
  const uint64_t name_size = reader.At(at + 28, 2), extra_size = reader.At(at + 30, 2);
  const auto name = reader.Sub(at + 46, name_size);
  member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  ReadZip64({reader.Sub(at + 46 + name_size, extra_size), reader.origin}, member.size, packed,
            local);
  next = at + 46 + name_size + extra_size + reader.At(at + 32, 2);

  if ((flags & 1) != 0) Damaged(reader.origin, "it is encrypted");
  if (method != 0 && method != 8) Damaged(reader.origin, "it is packed by other than deflate");
  member.deflated = method == 8;
  if (reader.At(local, 4) != kLocal) Damaged(reader.origin, "a member has no header");
  // The local header's own name and extra field may differ in length.
  const uint64_t data = local + 30 + reader.At(local + 26, 2) + reader.At(local + 28, 2);
  member.packed = reader.Sub(data, packed);
  return member;
}

}  // namespace

std::vector<ZipMember> ListZip(std::span<const std::byte> file, const std::string& origin) {
  const Reader reader{file, origin};
  const Directory directory = FindDirectory(reader);
  std::vector<ZipMember> members;
  uint64_t at = directory.offset;
  uint64_t room = file.size();
  for (uint64_t i = 0; i < directory.entries; ++i) {
    members.push_back(ReadEntry(reader, at, at));
    // Members that share bytes are how a small file unpacks to terabytes.
    if (members.back().packed.size() > room) Damaged(origin, "its members overlap");
    room -= members.back().packed.size();
  }
  return members;
}

std::span<const std::byte> ZipContent(const ZipMember& member, std::vector<std::byte>& unpacked,
                                      const std::string& origin) {
  std::span<const std::byte> content = member.packed;
  if (member.deflated) {
    auto inflated = Inflate(member.packed, member.size);
    if (!inflated) throw Error("{}: member {} is damaged; copy it again", origin, member.name);
    unpacked = std::move(*inflated);
    content = unpacked;
  }
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (content.size() != member.size || crc != member.crc) {
    throw Error("{}: member {} is damaged; copy it again", origin, member.name);
  }
  return content;
}

}  // namespace crossilo

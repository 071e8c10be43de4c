#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace crossilo {

// A member of a zip file, stored or deflated.
struct ZipMember {
  std::string name;
  std::span<const std::byte> packed;  // within the file
  uint64_t size = 0;                  // unpacked
  uint32_t crc = 0;
  bool deflated = false;
};

// The members in the order of the central directory.  Zip64 is known, because
// numpy writes it always; encrypted files and those in several parts are
// refused.  `origin` stands in errors for the path.
std::vector<ZipMember> ListZip(std::span<const std::byte> file, const std::string& origin);

// A member's bytes, checksum verified: a view into the file where it is stored
// and `unpacked` untouched, else a view into `unpacked`.
std::span<const std::byte> ZipContent(const ZipMember& member, std::vector<std::byte>& unpacked,
                                      const std::string& origin);

}  // namespace crossilo

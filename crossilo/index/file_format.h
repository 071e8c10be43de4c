#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crossilo/index/store.h"

namespace crossilo {

// The header of a `.cxi` file (docs/FORMATS.md): what the items have in common
// and where the sections lie.

inline constexpr size_t kPrologueBytes = 48;
inline constexpr uint64_t kSectionAlignment = 64, kCodesAlignment = 4096;
inline constexpr int64_t kMostItems = 0xFFFFFFFE;  // a slot of all ones means none

struct Section {
  std::string name;     // at most 8 letters
  uint32_t column = 0;  // 0 where it is of no column
  uint64_t offset = 0, length = 0;
  uint64_t checksum = 0;
};

struct FileHeader {
  uint64_t serial = 1;  // one more with every rewriting of the file
  int64_t count = 0;    // items
  uint64_t file_bytes = 0;
  uint64_t identity = 0;  // the header's checksum
  Schema schema;
  std::string index = "auto";  // as StoreOptions has it; the next rewriting follows it
  std::vector<Section> sections;

  // Null where there is none.
  const Section* Find(std::string_view name, uint32_t column = 0) const;
};

// Places the sections, whose lengths are known, behind each other; codes begin
// at a multiple of `codes_alignment`.
void LayOut(FileHeader& header, uint64_t codes_alignment);

// The header's bytes; sets its identity.
std::string EncodeHeader(FileHeader& header);

// Throws Error, beginning with `where`, unless the file begins with a whole
// header, has the length that it says, and its sections lie inside, in order.
// What the sections hold is not looked at.
FileHeader ParseHeader(std::span<const std::byte> file, const std::string& where);

// The identity of the file that has this name now, without opening it.  Throws
// Error where it is none.
uint64_t IdentityOf(const std::filesystem::path& path);

// Entries of the id table for so many items.
uint64_t IdTableSize(int64_t count);
// Where in it the search for an id begins.
uint64_t IdTableStart(int64_t id, uint64_t size);
// Whoever means harm can choose ids that all begin at one place.  So an id is left
// out of the table where so many places are taken, which other ids never meet, and
// a reader who has looked at a few turns to the ids themselves, which ascend.
inline constexpr int kMostIdTableTries = 512, kIdTableLooks = 64;

}  // namespace crossilo

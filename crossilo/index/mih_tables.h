#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/index/index.h"

namespace crossilo {

// The bytes that BuildMih makes (docs/FORMATS.md).  Equal codes are kept once:
// `slots` has the slots of each distinct code next to each other, ascending,
// and a bit of `begins` is set where the next one's begin.  Each table has all
// distinct codes once more, ordered by its key, which is made of some of their
// bits, so that a bucket is a run of rows, scanned as it lies.
inline constexpr int kMostMihTables = 8;
inline constexpr int kMostKeyBits = 24;

struct MihHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t bits;
  uint64_t size;      // codes, equal ones counted each
  uint64_t distinct;  // codes, equal ones counted once
  uint64_t bytes;     // of everything
  uint64_t slots_at;
  uint64_t begins_at;
  uint32_t tables;
  uint32_t unused;
  struct Part {
    uint32_t width;  // bits of a key
    uint32_t unused;
    uint64_t starts_at, rows_at, refs_at;
    std::array<uint16_t, kMostKeyBits> key;  // bit j of a key is this bit of a code
    std::array<char, 16> unused_too;
  };
  std::array<Part, kMostMihTables> parts;
  std::array<char, 64> unused_at_end;
};
static_assert(sizeof(MihHeader) == 896);

// Where everything lies for a header whose bits, size, distinct, tables and
// widths are set: fills in the offsets and `bytes`.
void LayOut(MihHeader& header);

// Tables where they lie.  The header has been checked and all pointers are in
// bounds; what they point at has not, so whoever reads an entry clamps it.
struct MihTables {
  struct Part {
    int width = 0;
    std::vector<uint16_t> key;
    const uint32_t* starts = nullptr;  // 2^width + 1, into rows
    const std::byte* rows = nullptr;   // distinct
    const uint32_t* refs = nullptr;    // distinct, into slots
    // The key's bits where they stand in a code, in words.
    std::array<uint64_t, 16> mask = {};
  };

  // Throws Error where the bytes are no tables of this table's shape.
  MihTables(const Table& table, std::span<const std::byte> bytes);

  Table table;
  MihHeader header;  // a copy
  int64_t size = 0, distinct = 0;
  int row_bytes = 0;
  const uint32_t* slots = nullptr;
  const uint64_t* begins = nullptr;
  std::vector<Part> parts;
};

}  // namespace crossilo

#include "crossilo/index/mih_tables.h"

#include <algorithm>
#include <cstring>

#include "crossilo/base/error.h"
#include "crossilo/codes/code_rows.h"

namespace crossilo {
namespace {

constexpr std::array<char, 8> kMagic = {'c', 'r', 'o', 's', 's', 'm', 'i', 'h'};

uint64_t Aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Everything that LayOut reads, so that it cannot overflow: at most 8 tables of
// 2^32 rows of 128 bytes.
void CheckShape(const MihHeader& header, const Table& table) {
  if (header.magic != kMagic || header.version != 1) {
    throw Error("these are no multi-index tables of version 1; build the index again");
  }
  if (header.bits != static_cast<uint32_t>(table.bits) ||
      header.size != static_cast<uint64_t>(table.size)) {
    throw Error("multi-index tables of {} codes of {} bits for {} of {}; build the index again",
                header.size, header.bits, table.size, table.bits);
  }
  if (header.distinct > header.size || (header.size > 0 && header.distinct == 0) ||
      header.tables < 1 || header.tables > kMostMihTables) {
    throw Error("multi-index tables are damaged: {} distinct of {} codes in {} tables",
                header.distinct, header.size, header.tables);
  }
}

void CheckKeys(const MihHeader& header) {
  std::vector<bool> used(header.bits);
  for (uint32_t t = 0; t < header.tables; ++t) {
    const MihHeader::Part& part = header.parts[t];
    if (part.width > kMostKeyBits) {
      throw Error("multi-index tables are damaged: a key of {} bits", part.width);
    }
    for (uint32_t j = 0; j < part.width; ++j) {
      // Answers are complete only where no bit counts twice.
      if (part.key[j] >= header.bits || used[part.key[j]]) {
        throw Error("multi-index tables are damaged: bit {} in a key of table {}", part.key[j], t);
      }
      used[part.key[j]] = true;
    }
  }
}

// The same shape with everything else as it must be, zeros included.
MihHeader Expected(const MihHeader& header) {
  MihHeader expected = {};
  expected.bits = header.bits;
  expected.size = header.size;
  expected.distinct = header.distinct;
  expected.tables = header.tables;
  for (uint32_t t = 0; t < header.tables; ++t) {
    const MihHeader::Part& part = header.parts[t];
    expected.parts[t].width = part.width;
    std::copy_n(part.key.begin(), part.width, expected.parts[t].key.begin());
  }
  LayOut(expected);
  return expected;
}

}  // namespace

void LayOut(MihHeader& header) {
  header.magic = kMagic;
  header.version = 1;
  uint64_t at = sizeof(MihHeader);
  const auto section = [&](uint64_t count, uint64_t width) {
    const uint64_t start = at;
    at = Aligned(at + count * width);
    return start;
  };
  header.slots_at = section(header.size, 4);
  header.begins_at = section((header.size + 63) / 64, 8);
  for (uint32_t t = 0; t < header.tables; ++t) {
    MihHeader::Part& part = header.parts[t];
    part.starts_at = section((uint64_t{1} << part.width) + 1, 4);
    part.rows_at = section(header.distinct, static_cast<uint64_t>(RowBytes(header.bits)));
    part.refs_at = section(header.distinct, 4);
  }
  header.bytes = at;
}

MihTables::MihTables(const Table& table, std::span<const std::byte> bytes) : table(table) {
  if (table.real_valued()) throw Error("multi-index tables are for codes, not for real values");
  if (bytes.size() < sizeof(MihHeader) || reinterpret_cast<uintptr_t>(bytes.data()) % 64 != 0) {
    throw Error("multi-index tables of {} bytes are cut off or not aligned to 64 bytes",
                bytes.size());
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  CheckShape(header, table);
  CheckKeys(header);
  const MihHeader expected = Expected(header);
  if (std::memcmp(&expected, &header, sizeof(header)) != 0 || header.bytes != bytes.size()) {
    throw Error("multi-index tables are damaged: {} bytes where {} belong, or sections elsewhere",
                bytes.size(), expected.bytes);
  }
  size = table.size;
  distinct = static_cast<int64_t>(header.distinct);
  row_bytes = static_cast<int>(table.row_bytes());
  const std::byte* const base = bytes.data();
  slots = reinterpret_cast<const uint32_t*>(base + header.slots_at);
  begins = reinterpret_cast<const uint64_t*>(base + header.begins_at);
  for (uint32_t t = 0; t < header.tables; ++t) {
    const MihHeader::Part& from = header.parts[t];
    Part& part = parts.emplace_back();
    part.width = static_cast<int>(from.width);
    part.key.assign(from.key.begin(), from.key.begin() + from.width);
    part.starts = reinterpret_cast<const uint32_t*>(base + from.starts_at);
    part.rows = base + from.rows_at;
    part.refs = reinterpret_cast<const uint32_t*>(base + from.refs_at);
    for (uint16_t bit : part.key) part.mask[bit / 64] |= uint64_t{1} << bit % 64;
  }
}

}  // namespace crossilo

#include <algorithm>
#include <array>
#include <cstring>

#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/index/code_groups.h"
#include "crossilo/index/code_sample.h"
#include "crossilo/index/index.h"
#include "crossilo/index/mih_plan.h"
#include "crossilo/index/mih_tables.h"

namespace crossilo {
namespace {

// Keys of rows, by one look at a small table a byte.
class KeyReader {
 public:
  KeyReader(const std::vector<uint16_t>& key, int64_t row_bytes) : parts_(row_bytes) {
    for (size_t j = 0; j < key.size(); ++j) {
      for (int value = 0; value < 256; ++value) {
        const auto bit = static_cast<uint32_t>(value >> key[j] % 8 & 1);
        parts_[key[j] / 8][value] |= bit << j;
      }
    }
  }
  uint32_t operator()(const std::byte* row) const {
    uint32_t key = 0;
    for (size_t b = 0; b < parts_.size(); ++b) key |= parts_[b][static_cast<uint8_t>(row[b])];
    return key;
  }

 private:
  std::vector<std::array<uint32_t, 256>> parts_;
};

// The distinct codes in the order of the tables' first keys, which brings the
// slots of a bucket's codes together.
struct DistinctCodes {
  std::vector<std::byte> rows;
  std::vector<uint32_t> refs;  // where each one's slots begin
};

// Positions in the order of keys, equal ones as they are, and where each key's
// begin.
std::vector<uint32_t> CountingSort(const std::vector<uint32_t>& keys, std::span<uint32_t> starts) {
  for (uint32_t key : keys) ++starts[key + 1];
  for (size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  std::vector<uint32_t> next(starts.begin(), starts.end()), order(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) order[next[keys[i]]++] = static_cast<uint32_t>(i);
  return order;
}

DistinctCodes Arrange(const Table& table, const CodeGroups& groups,
                      const std::vector<uint16_t>& key, uint32_t* slots) {
  const std::vector<uint32_t>& begins = groups.begins;
  const auto row_bytes = static_cast<size_t>(table.row_bytes());
  const KeyReader key_of(key, row_bytes);
  std::vector<uint32_t> keys, starts((size_t{1} << key.size()) + 1);
  for (uint32_t begin : begins) {
    keys.push_back(key_of(table.rows + groups.slots[begin] * row_bytes));
  }
  DistinctCodes codes{.rows = std::vector<std::byte>(begins.size() * row_bytes), .refs = {}};
  uint32_t at = 0;
  for (uint32_t i : CountingSort(keys, starts)) {
    std::memcpy(&codes.rows[codes.refs.size() * row_bytes],
                table.rows + groups.slots[begins[i]] * row_bytes, row_bytes);
    codes.refs.push_back(at);
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : groups.slots.size();
    for (size_t s = begins[i]; s < end; ++s) slots[at++] = groups.slots[s];
  }
  return codes;
}

void FillTable(const DistinctCodes& codes, const MihHeader& header, int number, std::string& out) {
  const MihHeader::Part& part = header.parts[number];
  const size_t row_bytes = codes.refs.empty() ? 1 : codes.rows.size() / codes.refs.size();
  const KeyReader key_of({part.key.begin(), part.key.begin() + part.width}, row_bytes);
  std::vector<uint32_t> keys;
  for (size_t at = 0; at < codes.rows.size(); at += row_bytes) {
    keys.push_back(key_of(&codes.rows[at]));
  }
  auto* starts = reinterpret_cast<uint32_t*>(out.data() + part.starts_at);
  auto* refs = reinterpret_cast<uint32_t*>(out.data() + part.refs_at);
  char* rows = out.data() + part.rows_at;
  for (uint32_t i : CountingSort(keys, {starts, (size_t{1} << part.width) + 1})) {
    *refs++ = codes.refs[i];
    std::memcpy(rows, &codes.rows[i * row_bytes], row_bytes);
    rows += row_bytes;
  }
}

MihHeader Describe(const Table& table, int64_t distinct, const MihKeys& keys) {
  MihHeader header = {};
  header.bits = static_cast<uint32_t>(table.bits);
  header.size = static_cast<uint64_t>(table.size);
  header.distinct = static_cast<uint64_t>(distinct);
  header.tables = static_cast<uint32_t>(keys.size());
  for (size_t t = 0; t < keys.size(); ++t) {
    header.parts[t].width = static_cast<uint32_t>(keys[t].size());
    std::ranges::copy(keys[t], header.parts[t].key.begin());
  }
  LayOut(header);
  return header;
}

std::string Build(const Table& table, const CodeGroups& groups, const MihKeys& keys, int workers) {
  const MihHeader header = Describe(table, std::ssize(groups.begins), keys);
  std::string out(header.bytes, '\0');
  std::memcpy(out.data(), &header, sizeof(header));
  auto* slots = reinterpret_cast<uint32_t*>(out.data() + header.slots_at);
  const DistinctCodes codes = Arrange(table, groups, keys[0], slots);
  auto* marks = reinterpret_cast<uint64_t*>(out.data() + header.begins_at);
  for (uint32_t ref : codes.refs) marks[ref / 64] |= uint64_t{1} << ref % 64;
  ForEach(header.tables, workers,
          [&](int64_t t, int) { FillTable(codes, header, static_cast<int>(t), out); });
  return out;
}

}  // namespace

std::string BuildMih(const Table& table, int threads) {
  if (table.real_valued()) throw Error("multi-index tables are for codes, not for real values");
  const CodeGroups groups = GroupEqual(table, threads);
  const int64_t distinct = std::ssize(groups.begins);
  MihPlan plan = PlanMih(table, distinct, PlannedRadius(table, Look(table).near));
  // Where neighbours are far, tables can still serve a search within few bits.
  if (plan.keys[0].empty()) plan = PlanMih(table, distinct, PlannedRadius(table, 0));
  return Build(table, groups, plan.keys, Workers(threads));
}

std::string BuildMih(const Table& table, const MihKeys& keys, int threads) {
  return Build(table, GroupEqual(table, threads), keys, Workers(threads));
}

}  // namespace crossilo

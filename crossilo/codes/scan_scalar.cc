#include <bit>
#include <cstring>

#include "crossilo/codes/scan.h"

namespace crossilo {
namespace {

template <typename Word>
Word Load(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));  // rows may begin anywhere
  return word;
}

// Rows of kWords words each; where kWords is 0, of `words`.
template <typename Word, size_t kWords>
size_t ScanOne(const ScanQuery& query, const std::byte* rows, size_t n, size_t words) {
  if (kWords != 0) words = kWords;
  size_t found = 0;
  for (size_t i = 0; i < n; ++i) {
    int distance = 0;
    for (size_t w = 0; w < words; ++w) {
      const Word differing = Load<Word>(query.code + w * sizeof(Word)) ^
                             Load<Word>(rows + (i * words + w) * sizeof(Word));
      distance += std::popcount(differing);
    }
    if (distance < query.limit) {
      query.out[found++] = {static_cast<uint32_t>(i), static_cast<uint16_t>(distance)};
    }
  }
  return found;
}

size_t ScanAny(const ScanQuery& query, const std::byte* rows, size_t n, size_t row_bytes) {
  switch (row_bytes) {
    case 2:
      return ScanOne<uint16_t, 1>(query, rows, n, 1);
    case 4:
      return ScanOne<uint32_t, 1>(query, rows, n, 1);
    case 8:
      return ScanOne<uint64_t, 1>(query, rows, n, 1);
    case 16:
      return ScanOne<uint64_t, 2>(query, rows, n, 2);
    case 32:
      return ScanOne<uint64_t, 4>(query, rows, n, 4);
    default:
      return ScanOne<uint64_t, 0>(query, rows, n, row_bytes / 8);
  }
}

void ScanRows(std::span<ScanQuery> queries, const std::byte* rows, size_t n, size_t row_bytes) {
  for (ScanQuery& query : queries) query.found = ScanAny(query, rows, n, row_bytes);
}

}  // namespace

ScanFunction* const scan::kScalar = ScanRows;

}  // namespace crossilo

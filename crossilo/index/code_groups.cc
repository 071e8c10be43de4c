#include "crossilo/index/code_groups.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "crossilo/base/parallel.h"

namespace crossilo {
namespace {

struct HashedSlot {
  uint64_t hash;
  uint32_t slot;
};

// Spreads codes evenly whatever they are like.  One to one for a single word
// (the finaliser of SplitMix64), so that up to 64 bits nothing collides.
uint64_t Hash(const std::byte* row, int64_t bytes) {
  uint64_t hash = 0;
  for (int64_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, row + at, static_cast<size_t>(std::min<int64_t>(8, bytes - at)));
    hash = (hash ^ word) + 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

// Slots by the first bits of their code's hash, in lots that fit a cache.
constexpr int kLots = 4096;
struct Lots {
  std::vector<HashedSlot> slots;
  std::vector<int64_t> begin;  // kLots + 1
};

Lots Deal(const Table& table, int workers) {
  const int64_t row_bytes = table.row_bytes();
  // Every slot of a worker's stretch with its hash.
  const auto stretch = [&](const auto& use) {
    ForEach(workers, workers, [&](int64_t part, int) {
      const int64_t last = (part + 1) * table.size / workers;
      for (int64_t slot = part * table.size / workers; slot < last; ++slot) {
        use(part, slot, Hash(table.rows + slot * row_bytes, row_bytes));
      }
    });
  };
  std::vector<std::array<int64_t, kLots>> place(workers);
  stretch([&](int64_t part, int64_t, uint64_t hash) { ++place[part][hash >> 52]; });
  Lots lots{.slots = std::vector<HashedSlot>(table.size), .begin = {}};
  int64_t at = 0;
  for (int lot = 0; lot < kLots; ++lot) {
    lots.begin.push_back(at);
    for (auto& part : place) at += std::exchange(part[lot], at);
  }
  lots.begin.push_back(at);
  stretch([&](int64_t part, int64_t slot, uint64_t hash) {
    lots.slots[place[part][hash >> 52]++] = {hash, static_cast<uint32_t>(slot)};
  });
  return lots;
}

}  // namespace

CodeGroups GroupEqual(const Table& table, int threads) {
  const int workers = Workers(threads);
  const int64_t row_bytes = table.row_bytes();
  // Negative, zero or positive; hashes of more than a word may collide.
  const auto compare = [&](const HashedSlot& a, const HashedSlot& b) {
    if (a.hash != b.hash) return a.hash < b.hash ? -1 : 1;
    if (row_bytes <= 8) return 0;
    return std::memcmp(table.rows + a.slot * row_bytes, table.rows + b.slot * row_bytes,
                       static_cast<size_t>(row_bytes));
  };
  Lots lots = Deal(table, workers);
  ForEach(kLots, workers, [&](int64_t lot, int) {
    std::sort(lots.slots.begin() + lots.begin[lot], lots.slots.begin() + lots.begin[lot + 1],
              [&](const HashedSlot& a, const HashedSlot& b) {
                const int order = compare(a, b);
                return order != 0 ? order < 0 : a.slot < b.slot;
              });
  });
  CodeGroups groups;
  groups.slots.reserve(lots.slots.size());
  for (size_t i = 0; i < lots.slots.size(); ++i) {
    if (i == 0 || compare(lots.slots[i - 1], lots.slots[i]) != 0) {
      groups.begins.push_back(static_cast<uint32_t>(i));
    }
    groups.slots.push_back(lots.slots[i].slot);
  }
  return groups;
}

}  // namespace crossilo

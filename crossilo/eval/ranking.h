#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

// One query's database in rank order, as far as the measures need it.  Nearest
// first; equally near items in database order.  Ranks count from 1.
struct Ranking {
  // Items that are equally near.
  struct Group {
    uint32_t size = 0;
    uint32_t relevant = 0;
  };

  uint32_t size = 0;                // items in the database
  std::vector<uint32_t> hit_ranks;  // the rank of every relevant item, ascending
  std::vector<Group> groups;        // nearest first; by distance d, groups[d], even if empty
  std::vector<uint32_t> top;        // database rows of the first ranks, as many as asked for
};

// Ranks by distance, each at most `most`, without sorting: two passes over the
// items.  `relevant` has 1 or 0 for each item.  `ranking` lends its memory, so
// that a caller with many queries does not allocate for each.
void RankByDistance(std::span<const uint16_t> distances, std::span<const uint8_t> relevant,
                    int most, uint32_t top, Ranking& ranking);

// Ranks by decreasing cosine.  None may be NaN.  `keys` is memory lent.
void RankByCosine(std::span<const float> cosines, std::span<const uint8_t> relevant, uint32_t top,
                  std::vector<uint64_t>& keys, Ranking& ranking);

}  // namespace crossilo

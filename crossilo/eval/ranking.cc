#include "crossilo/eval/ranking.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace crossilo {
namespace {

using Group = Ranking::Group;

// How many items, and how many relevant ones, lie at each distance.
void CountGroups(std::span<const uint16_t> distances, std::span<const uint8_t> relevant, int most,
                 std::vector<Group>& groups) {
  // Four tables in turn: neighbours often lie equally far, and an increment
  // would wait for the one before it to reach memory.
  constexpr size_t kTables = 4;
  const size_t width = 2 * (static_cast<size_t>(most) + 1);
  std::vector<uint32_t> counts(kTables * width);
  const size_t n = distances.size();
  size_t i = 0;
  for (; i + kTables <= n; i += kTables) {
    for (size_t t = 0; t < kTables; ++t) {
      ++counts[t * width + 2 * distances[i + t] + relevant[i + t]];
    }
  }
  for (; i < n; ++i) ++counts[2 * distances[i] + relevant[i]];

  groups.assign(most + 1, {});
  for (size_t t = 0; t < kTables; ++t) {
    for (int d = 0; d <= most; ++d) {
      const uint32_t others = counts[t * width + 2 * d], hits = counts[t * width + 2 * d + 1];
      groups[d].size += others + hits;
      groups[d].relevant += hits;
    }
  }
}

// The rank and the slot of the next item of a group, as one number so that one
// addition moves both: slot * 2^32 + rank.
constexpr uint64_t Cursor(uint64_t slot, uint64_t rank) { return slot << 32 | rank; }

std::vector<uint64_t> FirstOfEachGroup(const std::vector<Group>& groups) {
  std::vector<uint64_t> cursors;
  uint64_t rank = 1, slot = 0;
  for (const Group& group : groups) {
    cursors.push_back(Cursor(slot, rank));
    rank += group.size;
    slot += group.relevant + 1;
  }
  return cursors;
}

}  // namespace

void RankByDistance(std::span<const uint16_t> distances, std::span<const uint8_t> relevant,
                    int most, uint32_t top, Ranking& ranking) {
  const uint32_t n = static_cast<uint32_t>(distances.size());
  ranking.size = n;
  CountGroups(distances, relevant, most, ranking.groups);

  uint32_t hits = 0;
  for (const Group& group : ranking.groups) hits += group.relevant;
  auto& hit_ranks = ranking.hit_ranks;
  // Every item writes its rank to its group's next slot, and only a relevant
  // one moves on to the slot after it: no branch that guesses wrong.  A group
  // has one slot more than hits, for what comes after its last hit.
  hit_ranks.resize(hits + ranking.groups.size());
  ranking.top.resize(std::min(top, n));
  const uint32_t last_top = static_cast<uint32_t>(ranking.top.size());
  std::vector<uint64_t> cursors = FirstOfEachGroup(ranking.groups);
  for (uint32_t i = 0; i < n; ++i) {
    uint64_t& cursor = cursors[distances[i]];
    const uint32_t rank = static_cast<uint32_t>(cursor);
    hit_ranks[cursor >> 32] = rank;
    cursor += Cursor(relevant[i], 1);
    if (rank <= last_top) ranking.top[rank - 1] = i;
  }

  uint32_t from = 0, to = 0;
  for (const Group& group : ranking.groups) {
    std::memmove(&hit_ranks[to], &hit_ranks[from], group.relevant * sizeof(uint32_t));
    from += group.relevant + 1;
    to += group.relevant;
  }
  hit_ranks.resize(hits);
}

void RankByCosine(std::span<const float> cosines, std::span<const uint8_t> relevant, uint32_t top,
                  std::vector<uint64_t>& keys, Ranking& ranking) {
  const uint32_t n = static_cast<uint32_t>(cosines.size());
  keys.resize(n);
  for (uint32_t i = 0; i < n; ++i) {
    // Bits of a float sort as the float does, once negative ones are turned
    // over; + 0 makes -0 the same as 0.
    uint32_t bits = std::bit_cast<uint32_t>(cosines[i] + 0.0f);
    bits = bits >> 31 ? ~bits : bits | 0x80000000u;
    keys[i] = uint64_t{~bits} << 32 | i;
  }
  std::sort(keys.begin(), keys.end());

  ranking.size = n;
  ranking.hit_ranks.clear();
  ranking.groups.clear();
  ranking.top.clear();
  for (uint32_t r = 0; r < n; ++r) {
    const uint32_t row = static_cast<uint32_t>(keys[r]);
    if (r == 0 || keys[r] >> 32 != keys[r - 1] >> 32) ranking.groups.push_back({});
    ++ranking.groups.back().size;
    ranking.groups.back().relevant += relevant[row];
    if (relevant[row]) ranking.hit_ranks.push_back(r + 1);
    if (r < top) ranking.top.push_back(row);
  }
}

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/index/index.h"
#include "crossilo/index/mih_tables.h"
#include "crossilo/index/slot_marks.h"

namespace crossilo {

// The distinct codes that were found for one query, until their slots are asked
// for.  It knows from which distance on nothing is wanted any more.  One thread
// at a time.
class FoundCodes {
 public:
  // Where the slots of a code stand.
  struct SlotList {
    uint32_t first, last;
  };

  FoundCodes(const MihTables& tables, const Policy& policy);
  // For the next query.
  void Clear();

  // Codes that differ in so many bits or more are not wanted: the radius, or
  // k nearer slots are known.
  int limit() const { return limit_; }
  // Whether k slots within r bits are known.
  bool Enough(int r) const { return within_ >= k_ && limit_ <= r + 1; }

  // A code by where its slots begin, at most once each; distance < limit().
  void Add(uint32_t ref, int distance);
  // The codes that another one has, and this one has not.
  void Add(const FoundCodes& other);

  // Memory that is used again from query to query.
  struct Scratch {
    std::vector<SlotList> lists;    // by distance
    std::vector<uint32_t> passing;  // slots of one list
    std::vector<uint32_t> slots;    // few of all lists, to be sorted
    SlotMarks marks;                // many of them
  };
  // The k nearest slots, in order.
  std::vector<SlotHit> Hits(Scratch& scratch);

 private:
  struct Code {
    uint32_t ref;
    uint32_t distance;
  };

  int64_t End(uint32_t ref, int64_t most);
  int64_t CountSlots(uint32_t ref);
  std::span<const uint32_t> Slots(const SlotList& list, int64_t most, Scratch& scratch) const;
  std::vector<size_t> Order(Scratch& scratch);
  void AppendMerged(std::span<const SlotList> lists, int distance, Scratch& scratch,
                    std::vector<SlotHit>& hits) const;

  const MihTables* tables_;
  const Bitmap* only_;
  int64_t k_;
  int radius_;
  int limit_ = 0;
  int64_t left_ = 0;         // slots that may still be looked at
  int64_t within_ = 0;       // slots nearer than limit_, at most k of a code
  std::vector<int64_t> at_;  // and by distance
  std::vector<Code> codes_;
};

// The greatest whole distance that a policy allows, -1 for none.
int RadiusInBits(const Policy& policy, int bits);

}  // namespace crossilo

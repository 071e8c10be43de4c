#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "crossilo/index/snapshot.h"

namespace crossilo {

// The items of a store as they change: the file's, and in memory those that came
// since, in sorted runs of growing size (as in a log-structured merge tree), so
// that a change costs no pass over what is there.  Not safe to use from two
// threads; what Publish returns is.
class Contents {
 public:
  explicit Contents(std::shared_ptr<const Segment> base);

  const Schema& schema() const { return runs_.front().segment->schema(); }
  int64_t size() const { return size_; }
  // The item fits the schema.
  void Put(Item item);
  bool Has(int64_t id) const;
  // False where there is none.  Takes as long whatever the size, but for the first
  // after Publish: that copies a bit for each item of the run.
  bool Remove(int64_t id);
  std::optional<Item> Find(int64_t id) const;

  // The items as they are now.
  std::shared_ptr<const Snapshot> Publish();

 private:
  struct Run {
    std::shared_ptr<const Segment> segment;
    std::shared_ptr<Bitmap> live;
    int64_t count = 0;
    bool published = false;  // `live` belongs to a snapshot: copy before a change
  };

  void Flush();
  void MergeRuns();
  void Kill(Run& run, uint32_t slot);

  std::vector<Run> runs_;           // the file first, then the newest last
  std::map<int64_t, Item> recent_;  // not yet in a run
  int64_t size_ = 0;
};

}  // namespace crossilo

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "crossilo/index/contents.h"
#include "crossilo/index/durable.h"
#include "crossilo/index/generations.h"
#include "crossilo/index/log.h"
#include "crossilo/index/store.h"

namespace crossilo {

std::filesystem::path LogPath(const std::filesystem::path& path);
std::filesystem::path LockPath(const std::filesystem::path& path);

// The log of a file of so many items is merged into it when it has so many changes.
int64_t CompactAt(int64_t items);

// Throws Error unless it is one that StoreOptions has.
void CheckIndexName(const std::string& index);

// The one kind of Store: Contents, kept equal to a file and its log.
class FileStore : public Store {
 public:
  FileStore(const std::filesystem::path& path, const StoreOptions& options, bool writing);

  const Schema& schema() const override { return *schema_; }
  int64_t size() const override { return size_; }
  int64_t logged() const override { return logged_; }
  std::string index_kind(int column) const override {
    return std::string(Look()->parts().front().segment->index(column).kind());
  }

  std::vector<std::vector<Hit>> Search(int column, std::span<const std::byte> queries,
                                       const Policy& policy, const Filter& filter) const override {
    Policy with_threads = policy;
    if (policy.threads == 0) with_threads.threads = options_.threads;
    return Look()->Search(column, queries, with_threads, filter);
  }
  std::optional<Item> Find(int64_t id) const override;
  int64_t Count(int column, const Filter& filter) const override {
    return Look()->Count(column, filter);
  }
  std::vector<std::pair<std::string, int64_t>> Silos() const override { return Look()->Silos(); }
  std::vector<std::pair<std::string, int64_t>> Classes() const override {
    return Look()->Classes();
  }
  void ForEach(const std::function<bool(const Item&)>& visit) const override {
    Look()->ForEach(visit);
  }

  bool Refresh() override;
  void Put(const Item& item) override;
  bool Remove(int64_t id) override;
  void Commit() override;
  void Compact() override;
  void Verify() const override;

 private:
  using SnapshotPtr = std::shared_ptr<const Snapshot>;

  // The items now, whatever happens to them later.
  SnapshotPtr Look() const;
  SnapshotPtr Published() const;
  void Publish(SnapshotPtr snapshot) const;

  void Load();
  LogReader::Apply Applier(Contents& contents) const;
  void OpenLog();
  void CheckWriting() const;
  void CheckLock() const;
  void Changed();
  void Rewrite();

  const std::filesystem::path path_, log_path_;
  const StoreOptions options_;
  std::optional<WriterLock> lock_;  // held by a writer
  FileNumber lock_file_;            // that it has locked

  // Guards everything below it but schema_, published_ and the counts.
  mutable std::mutex change_;
  std::shared_ptr<const Segment> base_;
  mutable std::unique_ptr<Contents> contents_;
  LogPosition position_;  // what contents_ has of the log
  std::unique_ptr<LogWriter> log_;
  int64_t compact_at_ = 0;
  // A rewriting may index anew and say why.  Whoever was given the schema before
  // keeps it, so none goes.
  std::deque<Schema> schemas_;
  std::atomic<const Schema*> schema_ = nullptr;

  // Readers take the snapshot and go; a change only takes it away, and the next
  // reader makes the new one.  So nobody who searches holds up anybody.
  mutable std::mutex publish_;
  mutable SnapshotPtr published_;
  std::atomic<int64_t> size_ = 0, logged_ = 0;
};

}  // namespace crossilo

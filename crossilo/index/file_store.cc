#include "crossilo/index/file_store.h"

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/item_bytes.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// What the file is, but for what may change when it is rewritten.
Schema Essence(Schema schema) {
  schema.choice.clear();
  return schema;
}

LogBase BaseOf(const Segment& base) { return {base.header().serial, base.header().identity}; }

}  // namespace

fs::path LogPath(const fs::path& path) { return fs::path(path) += ".log"; }
fs::path LockPath(const fs::path& path) { return fs::path(path) += ".lock"; }

void CheckIndexName(const std::string& index) {
  if (index != "auto" && index != "flat" && index != "mih") {
    throw Error("index '{}' is unknown; auto, flat or mih", index);
  }
}

FileStore::FileStore(const fs::path& path, const StoreOptions& options, bool writing)
    : path_(path), log_path_(LogPath(path)), options_(options) {
  CheckIndexName(options.index);
  if (writing) {
    if (!fs::exists(path)) throw Error("{}: no such index", path.string());
    lock_.emplace(LockPath(path));
    lock_file_ = FileNumberOf(LockPath(path));
    RemoveLeftovers(path_);
    RemoveLeftovers(log_path_);
  }
  Load();
  if (writing) OpenLog();
  published_ = contents_->Publish();
}

FileStore::SnapshotPtr FileStore::Published() const {
  const std::lock_guard lock(publish_);
  return published_;
}

void FileStore::Publish(SnapshotPtr snapshot) const {
  const std::lock_guard lock(publish_);
  published_ = std::move(snapshot);
}

FileStore::SnapshotPtr FileStore::Look() const {
  if (SnapshotPtr snapshot = Published()) return snapshot;
  const std::lock_guard lock(change_);
  if (SnapshotPtr snapshot = Published()) return snapshot;
  SnapshotPtr snapshot = contents_->Publish();
  Publish(snapshot);
  return snapshot;
}

std::optional<Item> FileStore::Find(int64_t id) const {
  if (const SnapshotPtr snapshot = Published()) return snapshot->Find(id);
  // A writer that looks items up between its changes needs no snapshot of each.
  const std::lock_guard lock(change_);
  return contents_->Find(id);
}

LogReader::Apply FileStore::Applier(Contents& contents) const {
  return [this, &contents](LogKind kind, std::string_view payload) {
    try {
      if (kind == LogKind::kPut) {
        contents.Put(DecodeItem(contents.schema(), payload));
      } else {
        ByteReader in(payload, "a removal");
        contents.Remove(static_cast<int64_t>(in.U64()));
        in.Finish();
      }
    } catch (const Error& error) {
      throw Error("{}: {}", log_path_.string(), error.what());
    }
  };
}

// Opens the file and what the log says of it.
void FileStore::Load() {
  // The file is renamed before its log.  So a log that is newer than the file
  // means that a writer has just renamed both: the file is opened again.
  for (int tries = 0; tries < 100; ++tries) {
    auto base = std::make_shared<const Segment>(path_, options_.index);
    const LogBase here = BaseOf(*base);
    const std::optional<LogReader> log = LogReader::Open(log_path_);
    if (log && log->base().serial > here.serial) continue;
    if (log && log->base().serial == here.serial && log->base() != here) {
      throw Error(
          "{}: is the log of another file; restore the one that belongs to {}, or remove "
          "it to lose what changed since that was written",
          log_path_.string(), path_.string());
    }
    if (base_ != nullptr && Essence(base->schema()) != Essence(base_->schema())) {
      throw StaleStore("{}: holds codes of another model now; open it anew", path_.string());
    }
    auto contents = std::make_unique<Contents>(base);
    LogPosition position;
    // An older log is in the file already: its writer was killed between the renames.
    if (log && log->base() == here) position = log->Read(log->begin(), Applier(*contents));
    base_ = std::move(base);
    if (schemas_.empty() || schemas_.back() != base_->schema()) {
      schema_ = &schemas_.emplace_back(base_->schema());
    }
    contents_ = std::move(contents);
    position_ = position;
    size_ = contents_->size();
    logged_ = position_.changes;
    return;
  }
  throw Error(
      "{}: is newer than {}; restore both from one copy, each to another name and then by mv",
      log_path_.string(), path_.string());
}

bool FileStore::Refresh() {
  const std::lock_guard lock(change_);
  if (lock_) return false;
  const LogBase here = BaseOf(*base_);
  const std::optional<LogReader> log = LogReader::Open(log_path_);
  if (IdentityOf(path_) != here.identity || (log && log->base().serial > here.serial) ||
      (log && log->base() == here && position_.offset != 0 && !log->Reaches(position_))) {
    Load();
  } else {
    if (!log || log->base() != here) return false;
    const LogPosition from = position_.offset == 0 ? log->begin() : position_;
    const LogPosition to = log->Read(from, Applier(*contents_));
    if (to.offset == from.offset) return false;
    position_ = to;
    size_ = contents_->size();
    logged_ = position_.changes;
  }
  Publish(contents_->Publish());
  return true;
}

void FileStore::Verify() const {
  Look()->parts().front().segment->Verify();
  if (const std::optional<LogReader> log = LogReader::Open(log_path_)) {
    log->Read(log->begin(), [](LogKind, std::string_view) {});
  }
}

}  // namespace crossilo

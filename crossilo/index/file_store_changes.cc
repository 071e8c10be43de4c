#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/file_store.h"
#include "crossilo/index/item_bytes.h"
#include "crossilo/index/segment_writer.h"

// The second half of FileStore: what a writer does.

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// Few changes are worth no rewriting.  Many make opening slow: a million take some
// seconds.  Between these a quarter of the file's items, so that adding n items one
// by one rewrites 5 n.
constexpr int64_t kFewLogged = 4096, kMostLogged = 1 << 20;

}  // namespace

int64_t CompactAt(int64_t items) { return std::clamp(items / 4, kFewLogged, kMostLogged); }

void FileStore::OpenLog() {
  // Whoever renamed the file may have been killed before this, and a log counts
  // only beside its file.
  SyncFolder(FolderOf(path_));
  const LogBase here{base_->header().serial, base_->header().identity};
  if (position_.offset == 0) {
    const bool first = !fs::exists(log_path_);
    CreateLog(log_path_, here);
    // It will hold items as the file does, and is for the same people.
    std::error_code failed;
    if (first) fs::permissions(log_path_, fs::status(path_, failed).permissions(), failed);
    if (failed)
      throw Error("{}: cannot set its permissions: {}", log_path_.string(), failed.message());
    position_ = LogReader::Open(log_path_)->begin();
  }
  log_ = std::make_unique<LogWriter>(log_path_, here, position_, [this] { CheckLock(); });
  compact_at_ = CompactAt(base_->size());
}

void FileStore::CheckLock() const {
  const fs::path path = LockPath(path_);
  if (FileNumberOf(path) == lock_file_) return;
  throw Error("{}: was removed or replaced, so others may write too; open the store anew",
              path.string());
}

void FileStore::CheckWriting() const {
  if (!lock_) throw Error("{}: is open for reading only", path_.string());
  if (log_ == nullptr) throw Error("{}: an earlier rewriting failed; open it anew", path_.string());
}

void FileStore::Changed() {
  size_ = contents_->size();
  logged_ = log_->position().changes + log_->pending();
  Publish(nullptr);
}

void FileStore::Put(const Item& item) {
  CheckItem(schema(), item);
  const std::string payload = EncodeItem(schema(), item);
  const std::lock_guard lock(change_);
  CheckWriting();
  // Decoded again, so that this object has what others will read.
  Item stored = DecodeItem(schema(), payload);
  log_->Append(LogKind::kPut, payload);
  contents_->Put(std::move(stored));
  Changed();
}

bool FileStore::Remove(int64_t id) {
  const std::lock_guard lock(change_);
  CheckWriting();
  if (!contents_->Has(id)) return false;
  ByteWriter payload;
  payload.U64(static_cast<uint64_t>(id));
  log_->Append(LogKind::kRemove, payload.bytes());
  contents_->Remove(id);
  Changed();
  return true;
}

void FileStore::Commit() {
  const std::lock_guard lock(change_);
  CheckWriting();
  log_->Commit();
  if (logged_ < compact_at_) return;
  try {
    Rewrite();
  } catch (const Error&) {
    // What was asked for is done: the changes are on the disk.  Where there is no
    // room to rewrite the file they stay in the log, and Compact says why.
    compact_at_ *= 2;
    if (log_ == nullptr) throw;
  }
}

void FileStore::Compact() {
  const std::lock_guard lock(change_);
  CheckWriting();
  log_->Commit();
  Rewrite();
}

// Everything is committed.
void FileStore::Rewrite() {
  CheckLock();
  const SnapshotPtr now = contents_->Publish();
  Publish(now);
  SegmentWriter writer(base_->schema(), FolderOf(path_));
  now->ForEach([&](const Item& item) {
    writer.Add(item);
    return true;
  });
  const std::string& index = options_.index == "auto" ? base_->header().index : options_.index;
  const FileHeader header = writer.Finish(index, base_->header().serial + 1, options_.threads);
  WriteFile(path_, [&](const crossilo::Put& put) { writer.Write(header, put); });
  // From here on the old log is of the past.
  log_.reset();
  Load();
  OpenLog();
  Publish(contents_->Publish());
}

}  // namespace crossilo

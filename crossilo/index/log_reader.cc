#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/log_record.h"

namespace crossilo {
namespace {

// Bytes of a file that another process may be writing to: read, not mapped,
// because what is mapped and cut off kills whoever looks at it.
class Window {
 public:
  Window(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  // Fewer where the file ends.
  std::string_view At(uint64_t offset, size_t size) {
    if (offset < start_ || offset + size > start_ + bytes_.size()) {
      Fill(offset, std::max<size_t>(size, 1u << 20));
    }
    return std::string_view(bytes_).substr(offset - start_, size);
  }

 private:
  void Fill(uint64_t offset, size_t size) {
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) throw Error("{}: {}", path_, SystemMessage());
    const auto length = static_cast<uint64_t>(about.st_size);
    size = std::min(size, length - std::min(length, offset));
    bytes_.resize(size);
    start_ = offset;
    size_t filled = 0;
    while (filled < size) {
      const ssize_t got = ::pread(descriptor_, bytes_.data() + filled, size - filled,
                                  static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error("{}: cannot read: {}", path_, SystemMessage());
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    bytes_.resize(filled);
  }

  int descriptor_;
  std::string path_;
  std::string bytes_;
  uint64_t start_ = 0;
};

struct Record {
  LogKind kind;
  std::string_view payload;
  uint64_t checksum, bytes;
};

// The record that begins there, if it is whole and follows the one before.
std::optional<Record> RecordAt(Window& window, const LogPosition& at) {
  const std::string_view head = window.At(at.offset, kRecordHead);
  if (head.size() < kRecordHead) return {};
  ByteReader in(head, "a record");
  Record record{.checksum = in.U64()};
  const uint32_t kind = in.U32(), length = in.U32();
  if (kind < 1 || kind > 3 || length > kMostPayload) return {};
  record.kind = static_cast<LogKind>(kind);
  record.bytes = RecordBytes(length);
  const std::string_view whole = window.At(at.offset, record.bytes);
  if (whole.size() < record.bytes || Checksum(whole.substr(8), at.chain) != record.checksum) {
    return {};
  }
  record.payload = whole.substr(kRecordHead, length);
  return record;
}

}  // namespace

std::optional<LogReader> LogReader::Open(const std::filesystem::path& path) {
  const int descriptor = OpenPlainFile(path);
  if (descriptor < 0 && errno == ENOENT) return {};
  if (descriptor < 0) throw Error("{}: cannot open: {}", path.string(), SystemMessage());
  return LogReader(path, descriptor);
}

LogReader::LogReader(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {
  try {
    Window window(descriptor_, path_.string());
    const std::string_view head = window.At(0, kLogHeader);
    base_ = DecodeLogHeader(head, path_.string());
    seed_ = ByteReader(head.substr(kLogHeader - 8), "a log").U64();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

LogReader::~LogReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

LogReader::LogReader(LogReader&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      base_(other.base_),
      seed_(other.seed_) {}

LogPosition LogReader::begin() const { return {.offset = kLogHeader, .chain = seed_}; }

bool LogReader::Reaches(const LogPosition& position) const {
  // The header ends with its checksum, a commit begins with it.
  const uint64_t back = position.commits == 0 ? 8 : RecordBytes(kCommitPayload);
  Window window(descriptor_, path_.string());
  const std::string_view bytes = window.At(position.offset - back, 8);
  return bytes.size() == 8 && ByteReader(bytes, "a log").U64() == position.chain;
}

LogPosition LogReader::Scan(LogPosition at, std::optional<uint64_t> end, const Apply& apply,
                            uint64_t* stopped) const {
  Window window(descriptor_, path_.string());
  LogPosition committed = at;
  while (!end || at.offset < *end) {
    const std::optional<Record> record = RecordAt(window, at);
    if (!record) break;
    if (record->kind == LogKind::kCommit) {
      if (record->payload != CommitPayload(base_, at.offset, at.commits + 1)) break;
      ++at.commits;
    } else {
      apply(record->kind, record->payload);
      ++at.changes;
    }
    at.offset += record->bytes;
    at.chain = record->checksum;
    if (record->kind == LogKind::kCommit) committed = at;
  }
  *stopped = at.offset;
  return committed;
}

bool LogReader::FindCommitAfter(uint64_t offset, uint64_t commits) const {
  Window window(descriptor_, path_.string());
  const size_t size = RecordBytes(kCommitPayload);
  for (;; offset += 8) {
    const std::string_view record = window.At(offset, size);
    if (record.size() < size) return false;
    if (CommitNumber(record, base_, offset) > commits) return true;
  }
}

LogPosition LogReader::Read(const LogPosition& from, const Apply& apply) const {
  const Apply nothing = [](LogKind, std::string_view) {};
  uint64_t stopped = 0;
  LogPosition end = Scan(from, {}, nothing, &stopped);
  // A commit is begun only when the one before is on the disk.  So a broken
  // record with two commits behind it is no torn end: something that was
  // confirmed is lost, and to go on would lose more.  A writer may just have
  // written both, therefore a second look.
  if (FindCommitAfter(stopped, end.commits + 1)) {
    const uint64_t broken = stopped;
    end = Scan(from, {}, nothing, &stopped);
    if (stopped == broken) {
      throw Error(
          "{}: damaged at byte {}, before changes that were confirmed; restore it from a "
          "copy, or cut it off there to lose those",
          path_.string(), broken);
    }
  }
  Scan(from, end.offset, apply, &stopped);
  if (stopped != end.offset) throw Error("{}: changed while it was read", path_.string());
  return end;
}

}  // namespace crossilo

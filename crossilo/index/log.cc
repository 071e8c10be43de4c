#include "crossilo/index/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/durable.h"
#include "crossilo/index/log_record.h"

// The writing half of the log.

namespace crossilo {
namespace {

constexpr size_t kBuffer = 1u << 20;

}  // namespace

void CreateLog(const std::filesystem::path& path, const LogBase& base) {
  WriteDurably(path, [&](const Put& put) { put(EncodeLogHeader(base)); });
}

LogWriter::LogWriter(const std::filesystem::path& path, const LogBase& base,
                     const LogPosition& position, Guard guard)
    : path_(path), guard_(std::move(guard)), base_(base), committed_(position), end_(position) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) throw Error("{}: cannot open: {}", path.string(), SystemMessage());
  // The last commit may be of a writer that was killed before it was synced, and
  // the next one may be begun only behind one that is.
  if (!CutOff() || ::fdatasync(descriptor_) != 0) {
    const std::string reason = SystemMessage();
    ::close(descriptor_);
    throw Error("{}: cannot cut off what was not committed, or sync what was: {}", path.string(),
                reason);
  }
}

LogWriter::~LogWriter() {
  // Only tidiness: the next writer would do it.
  if (end_.offset != committed_.offset && MayWrite()) CutOff();
  ::close(descriptor_);
}

bool LogWriter::MayWrite() const {
  try {
    guard_();
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool LogWriter::CutOff() {
  return ::ftruncate(descriptor_, static_cast<off_t>(committed_.offset)) == 0;
}

void LogWriter::CheckDisk() const {
  if (failed_) throw Error("{}: the disk failed before; open the store anew", path_.string());
}

void LogWriter::AppendRecord(LogKind kind, std::string_view payload) {
  const std::string record = EncodeRecord(kind, payload, end_.chain);
  buffer_ += record;
  end_.offset += record.size();
  end_.chain = ByteReader(record, "a record").U64();
}

void LogWriter::Append(LogKind kind, std::string_view payload) {
  CheckDisk();
  if (payload.size() > kMostPayload) {
    throw Error("{}: a change of {} bytes; at most {}", path_.string(), payload.size(),
                kMostPayload);
  }
  if (buffer_.size() >= kBuffer) WriteBuffer();
  AppendRecord(kind, payload);
  ++end_.changes;
}

void LogWriter::WriteBuffer() {
  guard_();
  // At its place whatever an earlier try has left there.
  const uint64_t start = end_.offset - buffer_.size();
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = ::pwrite(descriptor_, buffer_.data() + done, buffer_.size() - done,
                                     static_cast<off_t>(start + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw WriteError(path_);
    done += static_cast<size_t>(written);
  }
  buffer_.clear();
}

void LogWriter::Commit() {
  CheckDisk();
  if (pending() == 0) return;
  const LogPosition before = end_;
  const size_t buffered = buffer_.size();
  AppendRecord(LogKind::kCommit, CommitPayload(base_, end_.offset, end_.commits + 1));
  ++end_.commits;
  try {
    WriteBuffer();
  } catch (...) {
    buffer_.resize(buffered);
    end_ = before;
    throw;
  }
  Sync();
  committed_ = end_;
}

void LogWriter::Sync() {
  if (::fdatasync(descriptor_) == 0) return;
  const std::string reason = SystemMessage();
  failed_ = true;
  // The system may take the pages for written now.  To whoever reads them there
  // they are a commit; on the disk there may be a hole.
  const bool cut = CutOff();
  throw Error(
      "{}: cannot sync: {}; nothing was committed; see whether the disk is in order{}, "
      "then open the store anew",
      path_.string(), reason,
      cut ? "" : fmt::format(", cut the file off at byte {}", committed_.offset));
}

}  // namespace crossilo

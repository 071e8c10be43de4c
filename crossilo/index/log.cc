#include "crossilo/index/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

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
                     const LogPosition& position)
    : path_(path), base_(base), committed_(position), end_(position) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) throw Error("{}: cannot open: {}", path.string(), SystemMessage());
  if (::ftruncate(descriptor_, static_cast<off_t>(position.offset)) != 0) {
    const std::string reason = SystemMessage();
    ::close(descriptor_);
    throw Error("{}: cannot cut off what was not committed: {}", path.string(), reason);
  }
}

LogWriter::~LogWriter() {
  // Only tidiness: the next writer would do it.
  if (end_.offset != committed_.offset && !failed_) {
    [[maybe_unused]] const int ignored =
        ::ftruncate(descriptor_, static_cast<off_t>(committed_.offset));
  }
  ::close(descriptor_);
}

void LogWriter::AppendRecord(LogKind kind, std::string_view payload) {
  const std::string record = EncodeRecord(kind, payload, end_.chain);
  buffer_ += record;
  end_.offset += record.size();
  end_.chain = ByteReader(record, "a record").U64();
}

void LogWriter::Append(LogKind kind, std::string_view payload) {
  if (payload.size() > kMostPayload) {
    throw Error("{}: a change of {} bytes; at most {}", path_.string(), payload.size(),
                kMostPayload);
  }
  if (buffer_.size() >= kBuffer) WriteBuffer();
  AppendRecord(kind, payload);
  ++end_.changes;
}

void LogWriter::WriteBuffer() {
  // At its place whatever an earlier try has left there.
  const uint64_t start = end_.offset - buffer_.size();
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = ::pwrite(descriptor_, buffer_.data() + done, buffer_.size() - done,
                                     static_cast<off_t>(start + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error("{}: cannot write: {}; free some space", path_.string(), SystemMessage());
    }
    done += static_cast<size_t>(written);
  }
  buffer_.clear();
}

void LogWriter::Commit() {
  if (failed_) throw Error("{}: the disk failed before; open the store anew", path_.string());
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
  if (::fdatasync(descriptor_) != 0) {
    failed_ = true;
    throw Error("{}: cannot sync: {}; open the store anew", path_.string(), SystemMessage());
  }
  committed_ = end_;
}

}  // namespace crossilo

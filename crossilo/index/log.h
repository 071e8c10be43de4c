#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace crossilo {

// The log of changes beside a `.cxi` file (docs/FORMATS.md).  What counts is
// everything up to the last whole commit; whatever a killed writer left behind
// that is ignored by readers and cut off by the next writer.

inline constexpr size_t kMostPayload = 64u << 20;

enum class LogKind : uint32_t { kPut = 1, kRemove = 2, kCommit = 3 };

// The file that a log belongs to.
struct LogBase {
  uint64_t serial = 0, identity = 0;

  bool operator==(const LogBase&) const = default;
};

// Behind a commit, or at the beginning.
struct LogPosition {
  uint64_t offset = 0;
  uint64_t commits = 0;
  int64_t changes = 0;
  uint64_t chain = 0;  // checksum of the record before, with which the next one's begins
};

// A log without a record, written whole or not at all.
void CreateLog(const std::filesystem::path& path, const LogBase& base);

// Safe to use while a writer appends.
class LogReader {
 public:
  // Nothing where there is no such file.  Throws Error where it is no log.
  static std::optional<LogReader> Open(const std::filesystem::path& path);
  ~LogReader();
  LogReader(LogReader&& other) noexcept;
  LogReader& operator=(LogReader&&) = delete;

  const LogBase& base() const { return base_; }
  LogPosition begin() const;
  // Whether a position that Read returned once is still one of this log: a commit
  // that the disk refused is cut off again, and who read it begins anew.
  bool Reaches(const LogPosition& position) const;

  using Apply = std::function<void(LogKind, std::string_view payload)>;
  // Calls `apply` for every change from there to the last whole commit, and
  // returns the position behind that.  Throws Error where the log is damaged
  // before a commit that was confirmed.
  LogPosition Read(const LogPosition& from, const Apply& apply) const;

 private:
  LogReader(std::filesystem::path path, int descriptor);
  // Reads on until `end`, or to the last commit that is whole, which it returns;
  // `stopped` becomes where the first record is that is not.
  LogPosition Scan(LogPosition from, std::optional<uint64_t> end, const Apply& apply,
                   uint64_t* stopped) const;
  bool FindCommitAfter(uint64_t offset, uint64_t commits) const;

  std::filesystem::path path_;
  int descriptor_;
  LogBase base_;
  uint64_t seed_ = 0;
};

// One at a time: whoever holds the store's lock.
class LogWriter {
 public:
  // Called before anything is written; throws Error where that is forbidden.
  using Guard = std::function<void()>;

  // Goes on at `position`, behind which everything is cut off.  What is before it
  // is on the disk once this returns, whoever wrote it.
  LogWriter(
      const std::filesystem::path& path, const LogBase& base, const LogPosition& position,
      Guard guard = [] {});
  // Cuts off what was not committed.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Throws Error, with nothing appended, where the disk is full.
  void Append(LogKind kind, std::string_view payload);
  // Returns once everything appended is on the disk.  Throws Error where it is
  // not; it may be tried again unless the disk itself failed.  Then nothing of it
  // counts, and this object takes no more changes.
  void Commit();

  // Behind the last commit.
  const LogPosition& position() const { return committed_; }
  int64_t pending() const { return end_.changes - committed_.changes; }

 private:
  void CheckDisk() const;
  bool MayWrite() const;
  void AppendRecord(LogKind kind, std::string_view payload);
  void WriteBuffer();
  void Sync();
  // What was not committed; false where that fails.
  bool CutOff();

  std::filesystem::path path_;
  Guard guard_;
  int descriptor_ = -1;
  LogBase base_;
  LogPosition committed_, end_;  // end_: behind what was appended
  std::string buffer_;           // ends at end_, not yet written
  bool failed_ = false;          // the disk did not confirm
};

}  // namespace crossilo

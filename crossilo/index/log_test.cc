#include "crossilo/index/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/log_record.h"
#include "crossilo/index/store_test_items.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr LogBase kBase{.serial = 3, .identity = 0x1122334455667788};

fs::path Fresh(const std::string& name) { return FreshFolder("log_" + name) / "x.log"; }

struct Content {
  std::vector<std::string> changes;
  LogPosition end;
};

Content ReadAll(const fs::path& path) {
  const auto reader = LogReader::Open(path);
  Content content;
  content.end = reader->Read(reader->begin(), [&](LogKind kind, std::string_view payload) {
    content.changes.push_back((kind == LogKind::kPut ? "+" : "-") + std::string(payload));
  });
  return content;
}

std::unique_ptr<LogWriter> WriterOf(const fs::path& path) {
  return std::make_unique<LogWriter>(path, kBase, ReadAll(path).end);
}

// A log with the commits {+one}, {+two, -three}, {+four}.
fs::path ThreeCommits(const std::string& name) {
  const fs::path path = Fresh(name);
  CreateLog(path, kBase);
  const auto writer = WriterOf(path);
  writer->Append(LogKind::kPut, "one");
  writer->Commit();
  writer->Append(LogKind::kPut, "two");
  writer->Append(LogKind::kRemove, "three");
  writer->Commit();
  writer->Append(LogKind::kPut, "four");
  writer->Commit();
  return path;
}

TEST(Log, BytesAreAsDocumented) {
  const fs::path path = Fresh("bytes");
  CreateLog(path, kBase);
  const auto writer = WriterOf(path);
  writer->Append(LogKind::kRemove, "elephant!");
  writer->Commit();
  const std::string bytes = ReadFile(path);
  EXPECT_EQ(bytes.substr(0, 8),
            "\x89"
            "CXL\r\n\x1a\n");
  EXPECT_EQ(At<uint32_t>(bytes, 8), 1u);
  EXPECT_EQ(At<uint64_t>(bytes, 16), 3u);
  EXPECT_EQ(At<uint64_t>(bytes, 24), 0x1122334455667788u);
  const auto header = At<uint64_t>(bytes, 32);
  EXPECT_EQ(header, Checksum(bytes.substr(0, 32)));
  // 16 bytes of head and 9 of payload, filled up to 16: the commit begins at 72.
  EXPECT_EQ(At<uint32_t>(bytes, 48), 2u);
  EXPECT_EQ(At<uint32_t>(bytes, 52), 9u);
  EXPECT_EQ(bytes.substr(56, 16), std::string("elephant!\0\0\0\0\0\0\0", 16));
  const auto first = At<uint64_t>(bytes, 40);
  EXPECT_EQ(first, Checksum(bytes.substr(48, 24), header));
  EXPECT_EQ(At<uint64_t>(bytes, 72), Checksum(bytes.substr(80, 24), first));
  EXPECT_EQ(At<uint32_t>(bytes, 80), 3u);
  EXPECT_EQ(At<uint32_t>(bytes, 84), 16u);
  EXPECT_EQ(At<uint64_t>(bytes, 88), 1u);
  const uint64_t proof[] = {1, 72};
  EXPECT_EQ(At<uint64_t>(bytes, 96),
            Checksum({reinterpret_cast<const char*>(proof), 16}, kBase.identity));
  EXPECT_EQ(bytes.size(), 104u);
}

TEST(Log, WhatAKilledWriterLeftGoes) {
  const fs::path path = Fresh("left");
  Overwrite(path.string() + ".part-999", "a ha");
  CreateLog(path, kBase);
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST(Log, OnlyWholeCommitsCount) {
  const fs::path path = ThreeCommits("whole");
  const std::string bytes = ReadFile(path);
  // one: 24 + 32 bytes, two and three: 24 + 24 + 32, four: 24 + 32.
  ASSERT_EQ(bytes.size(), 40u + 56 + 80 + 56);
  for (size_t length = 40; length <= bytes.size(); ++length) {
    Overwrite(path, bytes.substr(0, length));
    const Content content = ReadAll(path);
    const size_t commits = length < 96 ? 0 : length < 176 ? 1 : length < 232 ? 2 : 3;
    EXPECT_EQ(content.end.commits, commits) << length;
    EXPECT_EQ(content.changes.size(), (std::vector<size_t>{0, 1, 3, 4}[commits])) << length;
  }
  for (size_t length = 0; length < 40; ++length) {
    Overwrite(path, bytes.substr(0, length));
    EXPECT_THROW(LogReader::Open(path), Error) << length;
  }
  EXPECT_FALSE(LogReader::Open(path.parent_path() / "none"));
}

TEST(Log, TheNextWriterCutsTheTornEndOff) {
  const fs::path path = ThreeCommits("torn");
  const std::string whole = ReadFile(path);
  Overwrite(path, whole.substr(0, whole.size() - 5));
  {
    const auto writer = WriterOf(path);
    EXPECT_EQ(fs::file_size(path), 176u);
    writer->Append(LogKind::kPut, "five");
    writer->Commit();
    writer->Append(LogKind::kPut, "never committed");
  }
  EXPECT_THAT(ReadAll(path).changes, ElementsAre("+one", "+two", "-three", "+five"));
  EXPECT_EQ(fs::file_size(path), whole.size()) << "what was not committed is gone";
}

// Records of equal length at equal places: a cut-off tail whose bytes come back
// must not pass for what was written over it.
TEST(Log, OldTailsDoNotFitNewCommits) {
  const fs::path path = Fresh("tails");
  CreateLog(path, kBase);
  const auto start = LogReader::Open(path)->begin();
  const std::string old_record = EncodeRecord(LogKind::kPut, "old!", start.chain);
  const auto writer = WriterOf(path);
  writer->Append(LogKind::kPut, "new!");
  writer->Commit();
  std::string bytes = ReadFile(path);
  bytes.replace(start.offset, old_record.size(), old_record);
  Overwrite(path, bytes);
  EXPECT_THAT(ReadAll(path).changes, IsEmpty());
}

TEST(Log, DamageBeforeConfirmedCommitsIsNoTornEnd) {
  const fs::path path = ThreeCommits("damage");
  const std::string bytes = ReadFile(path);
  for (size_t at = 40; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    Overwrite(path, damaged);
    if (at < 176) {  // in the first or second of three commits: the third is whole
      const int record = at < 64 ? 40 : at < 96 ? 64 : at < 120 ? 96 : at < 144 ? 120 : 144;
      try {
        ReadAll(path);
        FAIL() << at;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("damaged at byte " + std::to_string(record)));
      }
    } else {
      EXPECT_EQ(ReadAll(path).end.commits, 2u) << at;
    }
  }
}

TEST(Log, AReaderGoesOnWhereItWas) {
  const fs::path path = ThreeCommits("on");
  const auto reader = LogReader::Open(path);
  LogPosition at = reader->Read(reader->begin(), [](LogKind, std::string_view) {});
  std::vector<std::string> seen;
  const auto see = [&](LogKind, std::string_view payload) { seen.emplace_back(payload); };
  const auto writer = WriterOf(path);
  writer->Append(LogKind::kPut, std::string(3u << 20, 'x'));  // beyond the writer's buffer
  writer->Append(LogKind::kPut, "six");
  at = reader->Read(at, see);
  EXPECT_THAT(seen, IsEmpty());
  writer->Commit();
  at = reader->Read(at, see);
  EXPECT_EQ(seen.size(), 2u);
  at = reader->Read(at, see);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(at.changes, 6);
  EXPECT_THROW(writer->Append(LogKind::kPut, std::string(kMostPayload + 1, 'x')), Error);
}

// As after a commit that the disk refused: it is cut off, and another takes its place.
TEST(Log, AReaderSeesThatItsCommitWasCutOff) {
  const fs::path path = ThreeCommits("cut");
  const auto reader = LogReader::Open(path);
  const LogPosition end = ReadAll(path).end;
  EXPECT_TRUE(reader->Reaches(end));
  EXPECT_TRUE(reader->Reaches(reader->begin()));
  fs::resize_file(path, 176);
  EXPECT_FALSE(reader->Reaches(end));
  const auto writer = WriterOf(path);
  writer->Append(LogKind::kPut, "FOUR");
  writer->Commit();
  EXPECT_FALSE(reader->Reaches(end)) << "as long, but another";
  EXPECT_TRUE(reader->Reaches(writer->position()));
}

// A limit on the size of files stands for a full disk.
TEST(Log, AFullDiskLosesNothingAndCanBeTriedAgain) {
  const fs::path path = ThreeCommits("full");
  const auto writer = WriterOf(path);
  struct rlimit normal {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &normal), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit full = normal;
  full.rlim_cur = fs::file_size(path) + 30;  // room for a part of it
  writer->Append(LogKind::kPut, "five");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_THROW(writer->Commit(), Error);
  EXPECT_THROW(writer->Commit(), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &normal), 0);
  EXPECT_EQ(ReadAll(path).end.commits, 3u);
  writer->Append(LogKind::kPut, "six");
  writer->Commit();
  EXPECT_THAT(ReadAll(path).changes,
              ElementsAre("+one", "+two", "-three", "+four", "+five", "+six"));
}

}  // namespace
}  // namespace crossilo

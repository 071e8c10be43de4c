#include "crossilo/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

fs::path Fresh(const std::string& name) {
  const fs::path path = fs::path(testing::TempDir()) / name;
  fs::remove_all(path);
  return path;
}

TEST(File, WhatIsWrittenIsReadAndMapped) {
  const fs::path path = Fresh("file_test/a/b.txt");
  WriteFile(path, std::string_view("one\0two", 7));
  EXPECT_EQ(ReadFile(path), std::string("one\0two", 7));
  MappedFile first(path);
  const MappedFile mapped = std::move(first);
  EXPECT_EQ(mapped.bytes().size(), 7u);
  EXPECT_EQ(mapped.bytes()[3], std::byte{0});
  EXPECT_TRUE(first.bytes().empty());
}

TEST(File, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const fs::path path = Fresh("file_test2") / "kept";
  WriteFile(path, "old");
  const auto fail = [](const Put& put) {
    put("half of the ne");
    throw Error("the writer gave up");
  };
  EXPECT_THROW(WriteFile(path, fail), Error);
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST(File, AFullDiskIsNamed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  // A link makes the temporary file the device that is always full.
  const fs::path folder = Fresh("file_test3");
  fs::create_directories(folder);
  const fs::path path = folder / "x";
  fs::create_symlink("/dev/full", folder / ("x.part-" + std::to_string(::getpid())));
  try {
    WriteFile(path, "content");
    FAIL() << "wrote to a full disk";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  }
  EXPECT_FALSE(fs::exists(path));
}

// What was kept from others stays so.
TEST(File, ANewFileHasTheOldOnesPermissions) {
  const fs::path path = Fresh("file_test4") / "secret";
  const auto mode = [&] { return fs::status(path).permissions(); };
  WriteFile(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  WriteFile(path, [&](const Put& put) {
    for (const auto& entry : fs::directory_iterator(path.parent_path())) {
      EXPECT_EQ(entry.status().permissions(), mode()) << "before the first byte";
    }
    put("new");
  });
  EXPECT_EQ(mode(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(ReadFile(path), "new");
}

// To wait for a pipe's other end would be to wait forever.
TEST(File, APipeIsNoPlainFile) {
  const fs::path folder = Fresh("file_test5"), path = folder / "pipe";
  MakeFolders(folder);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(MappedFile{path}, Error);
  EXPECT_THROW(OpenPlainFile(path), Error);
  EXPECT_THROW(OpenPlainFile(folder), Error);
  EXPECT_EQ(OpenPlainFile(folder / "none"), -1);
  EXPECT_EQ(ReadFile(path), "") << "nobody writes";
  std::thread writer([&] { std::ofstream(path) << std::string(100000, 'x'); });
  const int held = ::open(path.c_str(), O_RDONLY);  // returns when the other end is open
  const std::string read = ReadFile("/dev/fd/" + std::to_string(held));
  writer.join();
  ::close(held);
  EXPECT_EQ(read, std::string(100000, 'x'));
}

TEST(File, FoldersAreMadeOrNamed) {
  const fs::path folder = Fresh("file_test6");
  MakeFolders(folder / "a" / "b" / "");
  MakeFolders(folder / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder / "a" / "b"));
  WriteFile(folder / "file", "");
  try {
    MakeFolders(folder / "file" / "c");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("file: cannot make the folder"));
  }
}

TEST(File, MissingFilesAndFoldersAreNamed) {
  for (const std::string path : {"/no/such/file", "/tmp"}) {
    try {
      ReadFile(path);
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
    EXPECT_THROW(MappedFile{path}, Error);
  }
}

}  // namespace
}  // namespace crossilo

#include "crossilo/base/remove_all.h"

#include <gtest/gtest.h>

#include <fstream>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

TEST(RemoveAll, FoldersFilesAndLinksButNotWhatTheyLeadTo) {
  const fs::path folder = fs::path(testing::TempDir()) / "remove_all_test";
  RemoveAll(folder);
  fs::create_directories(folder / "gone" / "deep" / "deeper");
  fs::create_directories(folder / "kept");
  std::ofstream(folder / "gone" / "deep" / "file") << "x";
  std::ofstream(folder / "kept" / "file") << "x";
  fs::create_directory_symlink(folder / "kept", folder / "gone" / "link");
  RemoveAll(folder / "gone");
  EXPECT_FALSE(fs::exists(folder / "gone"));
  EXPECT_TRUE(fs::exists(folder / "kept" / "file"));
  RemoveAll(folder / "kept" / "file");
  EXPECT_FALSE(fs::exists(folder / "kept" / "file"));
  RemoveAll(folder / "never there");
  EXPECT_THROW(RemoveAll("/proc/version"), Error);
  RemoveAll(folder);
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace crossilo

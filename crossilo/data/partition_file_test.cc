#include "crossilo/data/partition_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "crossilo/base/error.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/data/npy.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST(PartitionFile, SaysWhoHoldsWhatAndHowItCameAbout) {
  const fs::path folder = fs::path(testing::TempDir()) / "partition_file_test";
  RemoveAll(folder);
  const Partition partition = {{"a/1", "q\"uote"}, {{0, 4}, {2}}};
  PartitionOptions options = {.kind = "column", .beta = 1000, .column = "house"};
  options.within = std::make_shared<PartitionOptions>(PartitionOptions{.beta = 0.3});
  WritePartition(folder, 5, partition, options, 7);

  const Array silo = ReadNpy(folder / "silo.npy");
  ASSERT_EQ(silo.type, Dtype::kI32);
  std::vector<int32_t> values(5);
  ASSERT_EQ(silo.bytes.size(), 20u);
  std::memcpy(values.data(), silo.bytes.data(), 20);
  EXPECT_THAT(values, ElementsAre(0, -1, 1, -1, 0));

  const Config config = Config::Load(folder / "partition.toml");
  EXPECT_EQ(config.Int("seed", 0, ""), 7);
  EXPECT_EQ(config.Int("samples", 0, ""), 5);
  EXPECT_TRUE(config.Has("silos"));
  const auto back = PartitionOptions::From(config.Table("partition"));
  EXPECT_EQ(back.column, "house");
  EXPECT_EQ(back.beta, 1000);
  ASSERT_TRUE(back.within);
  EXPECT_EQ(back.within->beta, 0.3);
}

TEST(PartitionFile, RefusesRowsThatAreNotThere) {
  const fs::path folder = fs::path(testing::TempDir()) / "partition_file_test2";
  RemoveAll(folder);
  EXPECT_THROW(WritePartition(folder, 3, {{"a"}, {{3}}}, {}, 1), Error);
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace crossilo

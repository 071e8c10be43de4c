#include <gmock/gmock.h>
#include <sys/stat.h>

#include <limits>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/store_test_items.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(StoreRefusal, WhatDoesNotFitIsRefused) {
  const fs::path folder = FreshFolder("refused");
  const Schema schema = OneColumn();
  const auto create = [&](const Schema& of, const std::vector<Item>& items) {
    Store::Create(folder / "x.cxi", of, static_cast<int64_t>(items.size()),
                  [&](int64_t i) { return items[i]; });
  };
  const Item good{.id = 1, .codes = {Code16(1)}};
  EXPECT_THROW(create(schema, {good, good}), Error);
  EXPECT_THROW(create(schema, {{.id = -1, .codes = {{}}}}), Error);
  EXPECT_THROW(create(schema, {{.id = 1}}), Error);
  EXPECT_THROW(create(schema, {{.id = 1, .codes = {{std::byte{1}}}}}), Error);
  EXPECT_THROW(create(schema, {{.id = 1, .codes = {{}}, .vectors = {{1.0f}}}}), Error);
  EXPECT_THROW(create({.columns = {"a"}, .bits = 8}, {{.id = 1, .codes = {Code16(256)}}}), Error);
  EXPECT_THROW(create({.columns = {"a"}, .bits = 12}, {}), Error);
  EXPECT_THROW(create({.columns = {"a", "a"}, .bits = 16}, {}), Error);
  EXPECT_THROW(create({.columns = {}, .bits = 16}, {}), Error);
  EXPECT_THROW(create({.columns = {"a"}, .bits = 16, .dims = 3}, {}), Error);
  EXPECT_THROW(create({.columns = {"a"}, .bits = 16, .vectors = "relaxed"}, {}), Error);
  std::vector<std::byte> nan(4);
  const float not_finite = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(nan.data(), &not_finite, 4);
  EXPECT_THROW(create({.columns = {"a"}, .dims = 1}, {{.id = 1, .codes = {nan}}}), Error);
  Schema vectors = schema;
  vectors.vectors = "features";
  vectors.vector_dims = {1};
  EXPECT_THROW(create(vectors, {{.id = 1, .codes = {{}}, .vectors = {{70000.0f}}}}), Error);
  // Nothing of all that stays but the lock.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  create(schema, {good});
  EXPECT_THAT(WhyNot([&] { create(schema, {good}); }), HasSubstr("there already"));
  const auto reader = Store::Open(folder / "x.cxi");
  EXPECT_THAT(WhyNot([&] { reader->Put(good); }), HasSubstr("reading only"));
  EXPECT_THROW(reader->Remove(1), Error);
  EXPECT_THROW(reader->Commit(), Error);
  EXPECT_THROW(reader->Compact(), Error);
  EXPECT_THROW(reader->Search(1, Code16(0), {}), Error);
  EXPECT_THROW(reader->Search(0, std::vector<std::byte>(3), {}), Error);
  const Bitmap slots(1);
  EXPECT_THROW(reader->Search(0, Code16(0), {.only = &slots}), Error);
  EXPECT_THROW(Store::Open(folder / "none.cxi"), Error);
  EXPECT_THROW(Store::OpenForWriting(folder / "none.cxi"), Error);
  EXPECT_THROW(Store::Open(folder / "x.cxi", {.index = "tree"}), Error);
}

TEST(StoreRefusal, OneWriterAtATime) {
  const fs::path path = FreshFolder("lock") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  auto writer = Store::OpenForWriting(path);
  EXPECT_THAT(WhyNot([&] { Store::OpenForWriting(path); }), HasSubstr("another process"));
  EXPECT_EQ(Store::Open(path)->size(), 3) << "readers do not mind";
  writer.reset();
  Store::OpenForWriting(path);
}

// Who removes the lock lets a second writer in; the first must not undo what that
// one has confirmed.
TEST(StoreRefusal, AWriterWithoutItsLock) {
  const fs::path path = FreshFolder("unlocked") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  auto first = Store::OpenForWriting(path);
  first->Remove(7);
  fs::remove(path.string() + ".lock");
  const auto second = Store::OpenForWriting(path);
  for (int64_t id : {20, 21, 22}) {
    second->Put({.id = id, .codes = {Code16(1)}});
    second->Commit();
  }
  EXPECT_THAT(WhyNot([&] { first->Commit(); }), HasSubstr("lock: was removed or replaced"));
  EXPECT_THAT(WhyNot([&] { first->Compact(); }), HasSubstr("lock: was removed or replaced"));
  const Item large{.id = 30, .facts = std::string(2u << 20, 'x'), .codes = {{}}};
  first->Put(large);
  EXPECT_THAT(WhyNot([&] { first->Put(large); }), HasSubstr("lock: was removed or replaced"));
  first.reset();
  EXPECT_EQ(Store::Open(path)->size(), 6);
}

TEST(StoreRefusal, APipeInPlaceOfALog) {
  const fs::path path = FreshFolder("pipe") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  const auto reader = Store::Open(path);
  ASSERT_EQ(::mkfifo((path.string() + ".log").c_str(), 0600), 0);
  EXPECT_THAT(WhyNot([&] { Store::Open(path); }), HasSubstr("log: not a plain file"));
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(WhyNot([&] { reader->Refresh(); }), HasSubstr("not a plain file"));
}

TEST(StoreRefusal, StaleAndForeignLogs) {
  const fs::path folder = FreshFolder("stale"), path = folder / "items.cxi";
  const fs::path log = folder / "items.cxi.log";
  CreateStore(path, OneColumn(), ThreeItems());
  std::string old_log;
  {
    const auto writer = Store::OpenForWriting(path);
    writer->Remove(5);
    writer->Commit();
    old_log = ReadFile(log);
    writer->Compact();
  }
  // As after a kill between the two renames: the log is in the file already.
  WriteFile(log, old_log);
  const std::string file = ReadFile(path);
  EXPECT_EQ(Store::Open(path)->size(), 2);
  {
    const auto writer = Store::OpenForWriting(path);
    writer->Put({.id = 5, .codes = {{}}});
    writer->Commit();
  }
  EXPECT_EQ(Store::Open(path)->size(), 3);
  const std::string newer_log = ReadFile(log);
  // A file that is older than its log, and one of the same number with other items.
  fs::remove(path);
  CreateStore(path, OneColumn(), ThreeItems());
  EXPECT_FALSE(fs::exists(log)) << "a log without its file belongs to nothing";
  WriteFile(log, newer_log);
  EXPECT_THAT(WhyNot([&] { Store::Open(path); }), HasSubstr("newer than"));
  fs::remove(log);
  fs::remove(path);
  CreateStore(path, OneColumn(), {});
  WriteFile(log, old_log);
  EXPECT_THAT(WhyNot([&] { Store::Open(path); }), HasSubstr("log of another file"));
}

// As after a commit that a reader saw before the disk refused it.
TEST(StoreRefusal, AReaderFollowsALogThatWasCutOff) {
  const fs::path path = FreshFolder("cut") / "items.cxi", log = path.string() + ".log";
  CreateStore(path, OneColumn(), ThreeItems());
  auto writer = Store::OpenForWriting(path);
  writer->Remove(5);
  writer->Commit();
  const auto confirmed = fs::file_size(log);
  writer->Remove(7);
  writer->Commit();
  const auto reader = Store::Open(path);
  EXPECT_EQ(reader->size(), 1);
  writer.reset();
  fs::resize_file(log, confirmed);
  EXPECT_TRUE(reader->Refresh());
  EXPECT_EQ(reader->size(), 2);
  EXPECT_FALSE(reader->Refresh());
  Store::OpenForWriting(path)->Compact();
  EXPECT_TRUE(reader->Refresh());
  EXPECT_EQ(reader->Find(7)->silo, "north");
}

TEST(StoreRefusal, AReaderFollowsARewrittenFileButNotAnotherModels) {
  const fs::path path = FreshFolder("follow") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  const auto reader = Store::Open(path);
  {
    const auto writer = Store::OpenForWriting(path);
    writer->Remove(9);
    writer->Compact();
    EXPECT_TRUE(reader->Refresh());
    EXPECT_EQ(reader->size(), 2);
  }
  fs::remove(path);
  EXPECT_THROW(reader->Refresh(), Error);
  Schema other = OneColumn();
  other.model = "another";
  CreateStore(path, other, {});
  EXPECT_THAT(WhyNot([&] { reader->Refresh(); }), HasSubstr("another model"));
  EXPECT_EQ(reader->size(), 2) << "it goes on with what it has";
  EXPECT_EQ(reader->Find(5)->facts, "five");
}

}  // namespace
}  // namespace crossilo

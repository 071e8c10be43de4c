#include "crossilo/index/store.h"

#include <gmock/gmock.h>

#include "crossilo/index/file_store.h"
#include "crossilo/index/store_test_model.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Store, ThreeItemsByHand) {
  const fs::path path = FreshFolder("hand") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  const auto store = Store::OpenForWriting(path);
  const auto search = [&](int code, const Filter& filter = {}) {
    std::vector<std::pair<int64_t, float>> hits;
    const auto found = store->Search(0, Code16(code), {}, filter);
    for (const Hit& hit : found[0]) {
      hits.emplace_back(hit.id, hit.distance);
    }
    return hits;
  };
  // 0 differs from 3 in two bits and from 256 in one; 7 has no code.
  EXPECT_THAT(search(0), ElementsAre(Pair(9, 1), Pair(5, 2)));
  EXPECT_THAT(search(0, {.silos = {"north"}}), ElementsAre(Pair(5, 2)));
  EXPECT_EQ(store->Count(0, {}), 2);
  EXPECT_EQ(store->size(), 3);
  EXPECT_THAT(store->Silos(), ElementsAre(Pair("north", 2), Pair("south", 1)));
  EXPECT_THAT(store->Classes(), ElementsAre(Pair("cat", 2)));
  // 6 is as near as 5: by id it comes behind.  9 moves to distance 0.
  store->Put({.id = 6, .silo = "east", .codes = {Code16(5)}});
  store->Put({.id = 9, .silo = "east", .codes = {Code16(0)}});
  EXPECT_THAT(search(0), ElementsAre(Pair(9, 0), Pair(5, 2), Pair(6, 2)));
  EXPECT_TRUE(store->Remove(5));
  EXPECT_FALSE(store->Remove(5));
  EXPECT_FALSE(store->Remove(1234));
  EXPECT_THAT(search(0), ElementsAre(Pair(9, 0), Pair(6, 2)));
  EXPECT_EQ(store->logged(), 3);
  EXPECT_FALSE(store->Find(5));
  EXPECT_EQ(store->Find(9)->silo, "east");
  const auto reader = Store::Open(path);
  EXPECT_EQ(reader->size(), 3) << "not committed";
  store->Commit();
  EXPECT_TRUE(reader->Refresh());
  EXPECT_FALSE(reader->Refresh());
  EXPECT_EQ(reader->logged(), 3);
  EXPECT_TRUE(AllOf(*reader) == AllOf(*store));
}

// All operations, against the model.
void Live(const Schema& schema, const StoreOptions& options, uint64_t seed) {
  Random random(seed, {}, "store_test");
  const fs::path path = FreshFolder("live" + std::to_string(seed)) / "items.cxi";
  Items items = RandomItems(schema, static_cast<int>(random.Below(40)), random);
  CreateStore(path, schema, items, options);
  Items committed = items;
  auto store = Store::OpenForWriting(path, options);
  const auto reader = Store::Open(path, options);
  ExpectSame(*store, items, random);
  for (int step = 0; step < 120; ++step) {
    const auto id = static_cast<int64_t>(random.Below(60));
    switch (random.Below(12)) {
      case 0:
        store->Commit();
        committed = items;
        break;
      case 1:
        store->Compact();
        committed = items;
        EXPECT_EQ(store->logged(), 0);
        break;
      case 2:
        store.reset();
        store = Store::OpenForWriting(path, options);
        items = committed;
        ExpectSame(*store, items, random);
        break;
      case 3:
        reader->Refresh();
        ExpectSame(*reader, committed, random);
        break;
      case 4:
        ExpectSame(*store, items, random);
        break;
      case 5:
      case 6:
      case 7:
        EXPECT_EQ(store->Remove(id), items.erase(id) > 0);
        break;
      default:
        items[id] = RandomItem(schema, id, random);
        store->Put(items[id]);
    }
    ASSERT_EQ(store->size(), static_cast<int64_t>(items.size()));
    if (testing::Test::HasFailure()) FAIL() << "at step " << step << " of seed " << seed;
  }
  store->Verify();
}

TEST(Store, Bits16) { Live(TwoColumns(16), {}, 1); }
TEST(Store, Bits64) { Live(TwoColumns(64), {.index = "flat"}, 2); }
TEST(Store, Bits64Mih) { Live(TwoColumns(64), {.index = "mih"}, 3); }
TEST(Store, Bits128) { Live(TwoColumns(128), {}, 4); }
TEST(Store, Bits24InRowsOf32) { Live(TwoColumns(24), {}, 5); }
TEST(Store, RealValued) { Live(TwoColumns(0, 5), {}, 6); }
TEST(Store, OneColumnWithoutVectors) { Live(OneColumn(), {}, 7); }

TEST(Store, EmptyStoresWork) {
  for (const char* index : {"auto", "flat", "mih"}) {
    const fs::path path = FreshFolder(std::string("empty") + index) / "items.cxi";
    CreateStore(path, TwoColumns(64), {}, {.index = index});
    Random random(1, {}, "empty");
    const auto store = Store::OpenForWriting(path, {.index = index});
    ExpectSame(*store, {}, random);
    store->Commit();
    store->Compact();
    ExpectSame(*store, {}, random);
    store->Verify();
  }
}

TEST(Store, ALongLogIsMergedByItself) {
  const fs::path path = FreshFolder("merged") / "items.cxi";
  CreateStore(path, OneColumn(), {});
  const auto writer = Store::OpenForWriting(path);
  const auto reader = Store::Open(path);
  for (int64_t id = 0; id < 10000; ++id) {
    writer->Put({.id = id * 3, .codes = {Code16(static_cast<int>(id))}});
    if (id % 1000 != 999) continue;
    writer->Commit();
    EXPECT_LT(writer->logged(), 4096);
    EXPECT_TRUE(reader->Refresh());
    EXPECT_EQ(reader->size(), id + 1);
  }
  EXPECT_EQ(reader->Find(2997)->codes[0], Code16(999));
  EXPECT_LT(fs::file_size(path.string() + ".log"), 4096u * 80);
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 3);
}

// 4096 at least, a quarter of the items, a million at most.
TEST(Store, HowLongALogMayBe) {
  EXPECT_EQ(CompactAt(0), 4096);
  EXPECT_EQ(CompactAt(16384), 4096);
  EXPECT_EQ(CompactAt(100000), 25000);
  EXPECT_EQ(CompactAt(100'000'000), 1 << 20);
}

TEST(Store, TheReasonOfItsIndexIsOfNow) {
  const fs::path path = FreshFolder("reason") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  const auto writer = Store::OpenForWriting(path), reader = Store::Open(path);
  const Schema& before = reader->schema();
  EXPECT_THAT(before.choice, HasSubstr("a scan of 3 codes"));
  writer->Put({.id = 1, .codes = {Code16(1)}});
  writer->Compact();
  EXPECT_THAT(writer->schema().choice, HasSubstr("a scan of 4 codes"));
  EXPECT_TRUE(reader->Refresh());
  EXPECT_THAT(reader->schema().choice, HasSubstr("a scan of 4 codes"));
  EXPECT_THAT(before.choice, HasSubstr("a scan of 3 codes"));
}

TEST(Store, WhatWasKeptFromOthersStaysSo) {
  const fs::path path = FreshFolder("private") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems());
  const fs::perms mine = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path, mine);
  const auto store = Store::OpenForWriting(path);
  EXPECT_EQ(fs::status(path.string() + ".log").permissions(), mine);
  store->Put({.id = 1, .codes = {Code16(1)}});
  store->Compact();
  EXPECT_EQ(fs::status(path).permissions(), mine);
  EXPECT_EQ(fs::status(path.string() + ".log").permissions(), mine);
}

TEST(Store, TheIndexThatWasAskedForIsKept) {
  Random random(4, {}, "kinds");
  for (const std::string index : {"flat", "mih"}) {
    const fs::path path = FreshFolder("kind" + index) / "items.cxi";
    CreateStore(path, TwoColumns(64), RandomItems(TwoColumns(64), 40, random), {.index = index});
    EXPECT_EQ(Store::Open(path, {.index = index})->index_kind(1), index);
    Store::OpenForWriting(path)->Compact();
    EXPECT_EQ(Store::Open(path)->schema().choice, index + ": as asked for");
    EXPECT_EQ(Store::Open(path)->index_kind(0) == "flat", index == "flat");
    EXPECT_EQ(Store::Open(path, {.index = "flat"})->index_kind(0), "flat");
  }
  const fs::path path = FreshFolder("kindreal") / "items.cxi";
  CreateStore(path, TwoColumns(0, 4), {});
  EXPECT_EQ(Store::Open(path)->index_kind(0), "cosine");
}

}  // namespace
}  // namespace crossilo

#include <gmock/gmock.h>

#include <map>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/file_format.h"
#include "crossilo/index/store_test_items.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST(StoreFormat, TheFileIsAsDocumented) {
  const fs::path path = FreshFolder("bytes") / "items.cxi";
  CreateStore(path, OneColumn(), ThreeItems(), {.index = "flat"});
  const std::string bytes = ReadFile(path);
  EXPECT_EQ(bytes.substr(0, 8),
            "\x89"
            "CXI\r\n\x1a\n");
  EXPECT_EQ(At<uint32_t>(bytes, 16), 1u);  // version
  const auto header = At<uint32_t>(bytes, 20);
  EXPECT_EQ(At<uint64_t>(bytes, 24), 1u);  // serial
  EXPECT_EQ(At<uint64_t>(bytes, 32), 3u);  // items
  EXPECT_EQ(At<uint64_t>(bytes, 40), bytes.size());
  EXPECT_EQ(At<uint64_t>(bytes, 8), Checksum(bytes.substr(16, header - 16)));
  EXPECT_EQ(At<uint32_t>(bytes, 48), 16u);  // bits
  EXPECT_EQ(At<uint32_t>(bytes, 52), 0u);   // dims
  EXPECT_EQ(At<uint32_t>(bytes, 56), 1u);   // flat
  EXPECT_EQ(At<uint32_t>(bytes, 60), 1u);   // columns
  EXPECT_EQ(bytes.substr(64, 9), std::string("\5\0\0\0image", 9));
  EXPECT_EQ(At<uint32_t>(bytes, 73), 0u);  // vector dims
  EXPECT_EQ(bytes.substr(77, 9), std::string("\0\0\0\0\1\0\0\0m", 9));
  const auto choice = At<uint32_t>(bytes, 86);
  EXPECT_EQ(bytes.substr(90, choice), "flat: as asked for");
  size_t at = 90 + choice;
  std::map<std::string, std::string> sections;
  std::vector<std::string> names;
  const auto count = At<uint32_t>(bytes, at);
  for (at += 4; names.size() < count; at += 40) {
    names.push_back(bytes.substr(at, 8).c_str());
    const auto offset = At<uint64_t>(bytes, at + 16), length = At<uint64_t>(bytes, at + 24);
    sections[names.back()] = bytes.substr(offset, length);
    EXPECT_EQ(offset % (names.back() == "codes" ? 4096 : 64), 0u);
    EXPECT_EQ(At<uint64_t>(bytes, at + 32), Checksum(sections[names.back()]));
  }
  EXPECT_EQ(at, header);
  EXPECT_THAT(names, ElementsAre("ids", "idtable", "codes", "hascode", "tags", "tagends", "tagsets",
                                 "factends", "facts"));
  EXPECT_EQ(sections["ids"], std::string("\5\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\11\0\0\0\0\0\0\0", 24));
  EXPECT_EQ(sections["idtable"].size(), 5u * 4);  // 3 * 3 / 2 + 1
  EXPECT_EQ(sections["codes"], std::string("\3\0\0\0\0\1", 6));
  EXPECT_EQ(sections["hascode"], std::string("\5\0\0\0\0\0\0\0", 8));  // slots 0 and 2
  EXPECT_EQ(sections["tags"], std::string("\0\0\0\0\0\0\0\0\1\0\0\0", 12));
  // 4 + 5 + 4 + 4 + 3 = 20 bytes, then 4 + 5 + 4 = 13.
  EXPECT_EQ(sections["tagends"], std::string("\24\0\0\0\0\0\0\0\41\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(sections["tagsets"],
            std::string("\5\0\0\0north\1\0\0\0\3\0\0\0cat\5\0\0\0south\0\0\0\0", 33));
  EXPECT_EQ(sections["factends"],
            std::string("\4\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\11\0\0\0\0\0\0\0", 24));
  EXPECT_EQ(sections["facts"], "fivenine!");
}

TEST(StoreFormat, TheOrderOfItemsIsNoMatter) {
  const Schema schema = TwoColumns(32);
  Random random(1, {}, "order");
  const Items items = RandomItems(schema, 30, random);
  std::vector<Item> shuffled;
  for (const auto& [id, item] : items) shuffled.push_back(item);
  random.Shuffle(shuffled);
  const fs::path folder = FreshFolder("order");
  CreateStore(folder / "a.cxi", schema, items);
  Store::Create(folder / "b.cxi", schema, 30, [&](int64_t i) { return shuffled[i]; });
  EXPECT_EQ(ReadFile(folder / "a.cxi"), ReadFile(folder / "b.cxi"));
}

// What was put and compacted is what would have been created, but for the serial
// number and with it the header's checksum.
TEST(StoreFormat, CompactingIsCreating) {
  const Schema schema = TwoColumns(16);
  Random random(2, {}, "compact");
  const Items before = RandomItems(schema, 20, random), after = RandomItems(schema, 20, random);
  const fs::path folder = FreshFolder("compact");
  CreateStore(folder / "a.cxi", schema, before);
  CreateStore(folder / "b.cxi", schema, after);
  const auto store = Store::OpenForWriting(folder / "a.cxi");
  for (const auto& [id, item] : before) store->Remove(id);
  for (const auto& [id, item] : after) store->Put(item);
  store->Compact();
  std::string a = ReadFile(folder / "a.cxi"), b = ReadFile(folder / "b.cxi");
  EXPECT_EQ(At<uint64_t>(a, 24), 2u);
  for (std::string* bytes : {&a, &b}) bytes->replace(8, 8, 8, '\0').replace(24, 8, 8, '\0');
  EXPECT_EQ(a, b);
}

TEST(StoreFormat, ConsecutiveIdsTakeNoSpace) {
  const Schema schema = OneColumn();
  const fs::path path = FreshFolder("plain") / "items.cxi";
  Items items;
  for (int64_t id = 0; id < 10; ++id) {
    items[id] = {.id = id, .codes = {Code16(static_cast<int>(id))}};
  }
  CreateStore(path, schema, items);
  EXPECT_EQ(ReadFile(path).find("idtable"), std::string::npos);
  const auto store = Store::Open(path);
  EXPECT_EQ(store->Find(9)->codes[0], Code16(9));
  EXPECT_FALSE(store->Find(10));
  EXPECT_FALSE(store->Find(-1));
}

// An id whose search in a table of any size begins at `hash` of 2^64: what
// IdTableStart does, undone step by step.
uint64_t IdOfHash(uint64_t hash) {
  const auto unmix = [](uint64_t mixed, int shift) {
    uint64_t value = mixed;
    for (int known = shift; known < 64; known += shift) value = mixed ^ value >> shift;
    return value;
  };
  // Newton: each step doubles the bits that are right, and 3 of an odd number's are.
  const auto divide = [](uint64_t product, uint64_t odd) {
    uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return product * inverse;
  };
  hash = divide(unmix(hash, 31), 0x94D049BB133111EB);
  return unmix(divide(unmix(hash, 27), 0xBF58476D1CE4E5B9), 30);
}

// Ids that all begin at the table's first place would take n * n / 2 steps.
TEST(StoreFormat, IdsThatWereChosenToCollideAreFound) {
  std::vector<int64_t> ids;
  for (uint64_t hash = 0; ids.size() < 3001; ++hash) {
    const uint64_t id = IdOfHash(hash);
    if (id < 1'000'000'000'000'000'000) ids.push_back(static_cast<int64_t>(id));
  }
  ASSERT_EQ(IdTableStart(ids[3000], 4501), 0u);
  const fs::path path = FreshFolder("collide") / "items.cxi";
  Store::Create(path, OneColumn(), 3000, [&](int64_t i) {
    return Item{.id = ids[i], .codes = {Code16(static_cast<int>(i))}};
  });
  const auto store = Store::Open(path);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(store->Find(ids[i])->codes[0], Code16(i)) << i;
  EXPECT_FALSE(store->Find(ids[3000]));
  const std::string file = ReadFile(path);
  const FileHeader header = ParseHeader(std::as_bytes(std::span(file)), "it");
  int taken = 0;
  for (int at = 0; at < 4501; ++at) {
    taken += At<uint32_t>(file, header.Find("idtable")->offset + 4 * at) != ~uint32_t{0};
  }
  EXPECT_EQ(taken, kMostIdTableTries);
}

// Ids that nobody chose are in the table all, as its other readers want them.
TEST(StoreFormat, OtherIdsAreAllInTheTable) {
  const fs::path path = FreshFolder("table") / "items.cxi";
  Random random(3, {}, "ids");
  Store::Create(path, OneColumn(), 100000, [&](int64_t) {
    return Item{.id = static_cast<int64_t>(random.Bits() >> 2), .codes = {{}}};
  });
  std::string file = ReadFile(path);
  const Section table = *ParseHeader(std::as_bytes(std::span(file)), "it").Find("idtable");
  int taken = 0;
  for (uint64_t at = 0; at < table.length; at += 4) {
    taken += At<uint32_t>(file, table.offset + at) != ~uint32_t{0};
  }
  EXPECT_EQ(taken, 100000);
  // A table that is full of nonsense takes no longer than a whole one.
  std::vector<Item> some;
  Store::Open(path)->ForEach([&](const Item& item) {
    some.push_back(item);
    return some.size() < 100;
  });
  file.replace(table.offset, table.length, table.length, '\0');
  Overwrite(path, file);
  const auto store = Store::Open(path);
  for (const Item& item : some) EXPECT_TRUE(store->Find(item.id) == item);
  EXPECT_FALSE(store->Find(some[5].id + 1));
}

TEST(StoreFormat, VectorsAreRoundedToHalves) {
  const fs::path path = FreshFolder("halves") / "items.cxi";
  CreateStore(path, TwoColumns(16), {});
  const auto store = Store::OpenForWriting(path);
  store->Put({.id = 1, .codes = {{}, {}}, .vectors = {{0.1f, 1, 2}, {}}});
  const Item put = *store->Find(1);
  EXPECT_EQ(put.vectors[0][0], 0.0999755859375f);  // 1638 * 2^-14, the half nearest to 0.1
  store->Compact();
  EXPECT_TRUE(*store->Find(1) == put);
  EXPECT_TRUE(*Store::Open(path)->Find(1) == put);
}

}  // namespace
}  // namespace crossilo

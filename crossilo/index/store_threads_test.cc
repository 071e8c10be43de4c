#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "crossilo/base/error.h"
#include "crossilo/index/store_test_model.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// Every commit has items whose facts all say the same number; a search that sees
// two numbers has seen two moments.
TEST(StoreThreads, EveryCallSeesOneMoment) {
  const fs::path path = FreshFolder("threads") / "items.cxi";
  const auto items = [](int moment) {
    std::vector<Item> all;
    for (int64_t id = 0; id < 8; ++id) {
      all.push_back({.id = id * 2, .facts = std::to_string(moment), .codes = {Code16(moment % 4)}});
    }
    return all;
  };
  Store::Create(path, OneColumn(), 8, [&](int64_t i) { return items(0)[i]; });
  const auto reader = Store::Open(path);
  std::atomic<bool> done = false;
  std::atomic<int> looks = 0;
  const auto look = [&] {
    do {
      std::set<std::string> moments;
      reader->ForEach([&](const Item& item) { return moments.insert(item.facts), true; });
      EXPECT_EQ(moments.size(), 1u);
      const auto hits = reader->Search(0, Code16(0), {.k = 20, .threads = 1})[0];
      EXPECT_EQ(hits.size(), 8u);
      EXPECT_EQ(hits.front().distance, hits.back().distance);
      EXPECT_TRUE(reader->Find(14));
      ++looks;
    } while (!done);
  };
  std::thread first(look), second(look), third([&] {
    while (!done) reader->Refresh();
  });
  {
    const auto writer = Store::OpenForWriting(path);
    for (int moment = 1; moment <= 60; ++moment) {
      for (const Item& item : items(moment)) writer->Put(item);
      moment % 10 == 0 ? writer->Compact() : writer->Commit();
      if (testing::Test::HasFailure()) break;
    }
  }
  done = true;
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  reader->Refresh();
  EXPECT_EQ(reader->Find(0)->facts, "60");
  EXPECT_GT(looks, 1);
}

// The same inside one object: changes while others search it.
TEST(StoreThreads, AWriterIsSearchedWhileItChanges) {
  const fs::path path = FreshFolder("own") / "items.cxi";
  CreateStore(path, OneColumn(), {});
  const auto store = Store::OpenForWriting(path);
  for (int64_t id = 0; id < 100; ++id) store->Put({.id = id, .codes = {Code16(0)}});
  std::atomic<bool> done = false;
  std::thread searcher([&] {
    while (!done) {
      // One is removed and put again: 99 or 100, and never an id twice.
      const auto hits = store->Search(0, Code16(0), {.k = 200, .threads = 1})[0];
      EXPECT_GE(hits.size(), 99u);
      EXPECT_LE(hits.size(), 100u);
      EXPECT_TRUE(std::is_sorted(hits.begin(), hits.end(),
                                 [](const Hit& a, const Hit& b) { return a.id <= b.id; }));
    }
  });
  for (int64_t round = 0; round < 2000; ++round) {
    store->Remove(round % 100);
    store->Put({.id = round % 100, .codes = {Code16(0)}});
    if (round % 100 == 0) store->Commit();
  }
  done = true;
  searcher.join();
}

}  // namespace
}  // namespace crossilo

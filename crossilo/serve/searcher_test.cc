#include "crossilo/serve/searcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/random.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kBird = int64_t{1} << 62;

std::vector<int64_t> Ids(const SearchReply& reply) {
  std::vector<int64_t> out;
  for (const FoundItem& found : reply.items) out.push_back(found.item.id);
  return out;
}

std::string Refusal(const Site& site, const SearchRequest& request) {
  try {
    site.Search(request);
  } catch (const BadQuestion& error) {
    return error.what();
  }
  return "it was answered";
}

TEST(Searcher, WordsFindPictures) {
  const auto site = SiteOf(FiveItems(), 7);
  const auto reply = site->Search({.words = "0000"});
  EXPECT_THAT(Ids(reply), ElementsAre(10, 11, 12, 13));
  EXPECT_EQ(reply.items[2].distance, 3);  // 0007 has three bits
  EXPECT_EQ(reply.among, "image");
  EXPECT_FALSE(reply.more);
  EXPECT_EQ(reply.searched, 4);  // the fifth has no picture
  EXPECT_EQ(reply.generation, 7);
  EXPECT_EQ(reply.index, "flat");
  EXPECT_THAT(reply.items[0].item.codes, IsEmpty());
}

TEST(Searcher, PicturesFindOneTextForEachCaption) {
  const auto site = SiteOf(FiveItems());
  const SearchRequest request = {.picture = PictureOfCode(0)};
  // Distances 0 (no caption), 1 and 1 (both "a cat"), 4.
  const auto reply = site->Search(request);
  EXPECT_EQ(reply.among, "text");
  EXPECT_THAT(Ids(reply), ElementsAre(kBird, 10, 12));
  auto all = request;
  all.distinct = false;
  EXPECT_THAT(Ids(site->Search(all)), ElementsAre(kBird, 10, 11, 12));
}

TEST(Searcher, PagesJoinToTheWhole) {
  const auto site = SiteOf(FiveItems());
  for (const std::string among : {"image", "text"}) {
    const auto whole = Ids(site->Search({.words = "0003", .among = among}));
    for (int64_t k = 1; k <= 3; ++k) {
      std::vector<int64_t> joined;
      bool more = true;
      for (int64_t offset = 0; more; offset += k) {
        const auto page = site->Search({.words = "0003", .among = among, .k = k, .offset = offset});
        ASSERT_LE(std::ssize(page.items), k);
        for (const int64_t id : Ids(page)) joined.push_back(id);
        more = page.more;
      }
      EXPECT_EQ(joined, whole) << among << " by " << k;
    }
  }
}

// 300 texts of "a cat" stand before the one dog: only a deep search finds it.
TEST(Searcher, DistinctSearchesDeeperUntilThePageIsFull) {
  std::vector<Item> items;
  for (int64_t id = 0; id < 301; ++id) {
    items.push_back({.id = id,
                     .facts = id < 300 ? R"({"caption":"a cat"})" : R"({"caption":"a dog"})",
                     .codes = {{}, Code16(id < 300 ? 0 : 1)},
                     .vectors = {{}, {}}});
  }
  const auto site = SiteOf(std::move(items));
  EXPECT_THAT(Ids(site->Search({.words = "0", .among = "text", .k = 2})), ElementsAre(0, 300));
  const auto first = site->Search({.words = "0", .among = "text", .k = 1});
  EXPECT_THAT(Ids(first), ElementsAre(0));
  EXPECT_TRUE(first.more);
}

TEST(Searcher, LikeAsksWithTheOtherKindWhereThereIsOne) {
  const auto site = SiteOf(FiveItems());
  // 12's text is 000f: to 0000 4, 0001 3, 0007 1, 00ff 4 bits.
  EXPECT_THAT(Ids(site->Search({.like = 12})), ElementsAre(12, 11, 10, 13));
  // Its image is 0007: among texts 0001 2 bits (twice), 000f 1, 0000 3.
  EXPECT_THAT(Ids(site->Search({.like = 12, .among = "text"})), ElementsAre(12, 10, kBird));
  // 13 has a picture only: 00ff.
  EXPECT_THAT(Ids(site->Search({.like = 13})), ElementsAre(13, 12, 11, 10));
}

TEST(Searcher, FiltersAndRadius) {
  const auto site = SiteOf(FiveItems());
  const auto south = site->Search({.words = "0000", .filter = {.silos = {"south"}}});
  EXPECT_THAT(Ids(south), ElementsAre(12, 13));
  EXPECT_EQ(south.searched, 2);
  EXPECT_THAT(Ids(site->Search({.words = "0000", .filter = {.classes = {"smiles", "dogs"}}})),
              ElementsAre(11, 12));
  EXPECT_THAT(Ids(site->Search({.words = "0000", .radius = 1})), ElementsAre(10, 11));
  EXPECT_THAT(Ids(site->Search({.words = "0000", .filter = {.silos = {"nowhere"}}})), IsEmpty());
}

// The question's relaxed code is (0, 1).  1 - cosine: 11 (0, 1) 0, 12 (1, 1)
// 0.29, 10 (1, 0) 1, 13 (-1, 0) 1.
TEST(Searcher, RerankOrdersByTheStoredVectors) {
  const auto site = SiteOf(FiveItems());
  const auto reply = site->Search({.words = "0000", .rerank = true});
  EXPECT_THAT(Ids(reply), ElementsAre(11, 12, 10, 13));
  EXPECT_NEAR(reply.items[1].distance, 0.292893, 1e-5);
  EXPECT_EQ(reply.measure, "cosine");
  EXPECT_THAT(Ids(site->Search({.words = "0000", .k = 2, .offset = 1, .rerank = true})),
              ElementsAre(12, 10));
}

TEST(Searcher, RerankIsRefusedWhereItCannotBe) {
  const auto none = SiteOf(FiveItems(), 1, {}, {.columns = {"image", "text"}, .bits = 16});
  EXPECT_THAT(Refusal(*none, {.words = "0", .rerank = true}), HasSubstr("stores nothing"));
  const auto features = SiteOf(FiveItems(), 1, {}, SchemaOf("features"));
  EXPECT_THAT(Refusal(*features, {.words = "0", .rerank = true}), HasSubstr("text and image"));
  // Features of the same kind can be compared; the picture's are (1, 0).
  EXPECT_THAT(
      Ids(features->Search({.picture = PictureOfCode(0), .among = "image", .rerank = true})),
      ElementsAre(10, 12, 11, 13));
  Schema long_vectors = SchemaOf();
  long_vectors.vector_dims = {3, 3};
  EXPECT_THAT(Refusal(*SiteOf(FiveItems(), 1, {}, long_vectors), {.words = "0", .rerank = true}),
              HasSubstr("2 values"));
}

TEST(Searcher, RefusesWithASentence) {
  const auto site = SiteOf(FiveItems());
  EXPECT_THAT(Refusal(*site, {}), HasSubstr("nothing is asked"));
  EXPECT_THAT(Refusal(*site, {.words = "0", .like = 10}), HasSubstr("more than one"));
  EXPECT_THAT(Refusal(*site, {.words = "0", .among = "imag"}), HasSubstr("did you mean 'image'"));
  EXPECT_THAT(Refusal(*site, {.words = "chat"}), HasSubstr("none of these words"));
  EXPECT_THAT(Refusal(*site, {.like = 99}), HasSubstr("no item 99"));
  EXPECT_THAT(Refusal(*site, {.words = "wide"}), HasSubstr("different models"));
  EXPECT_THAT(Refusal(*site, {.words = "0", .k = -1}), HasSubstr("negative"));
}

TEST(Searcher, RefusesQuestionsTheModelCannotRead) {
  auto coder = std::make_unique<HexCoder>();
  coder->knows_words_ = coder->knows_pictures_ = false;
  const Site site("five", 1, std::make_unique<MemoryStore>(SchemaOf(), FiveItems()),
                  std::move(coder), {});
  EXPECT_THAT(Refusal(site, {.words = "0"}), HasSubstr("reads no words"));
  EXPECT_THAT(Refusal(site, {.picture = PictureOfCode(0)}), HasSubstr("sees no pictures"));
  EXPECT_THAT(Ids(site.Search({.like = 13, .k = 1})), ElementsAre(13));
}

TEST(Searcher, AnEmptyCollectionHasNoHits) {
  const auto reply = SiteOf({})->Search({.words = "0000"});
  EXPECT_THAT(reply.items, IsEmpty());
  EXPECT_FALSE(reply.more);
}

TEST(Searcher, AllHitsCanBeAskedFor) {
  const auto reply = SiteOf(FiveItems())->Search({.words = "0000", .k = Policy::kAll});
  EXPECT_EQ(reply.items.size(), 4);
}

std::vector<Item> RandomItems(int64_t count) {
  Random random(23, {}, "items");
  std::vector<Item> items;
  for (int64_t i = 0; i < count; ++i) {
    const auto code = [&] {
      return random.Below(5) == 0 ? std::vector<std::byte>()
                                  : Code16(static_cast<unsigned>(random.Below(1 << 16)));
    };
    items.push_back({.id = i * 7 + static_cast<int64_t>(random.Below(7)),
                     .silo = fmt::format("silo {}", random.Below(3)),
                     .classes = {fmt::format("class {}", random.Below(4))},
                     .facts = fmt::format(R"({{"caption":"caption {}"}})", random.Below(30)),
                     .codes = {code(), code()},
                     .vectors = {{static_cast<float>(random.Normal()), 1}, {1, 2}}});
  }
  return items;
}

// No hit is lost between two pages, and none comes twice.
TEST(Searcher, PagesFollowEachOther) {
  const auto site = SiteOf(RandomItems(1500));
  for (const bool rerank : {false, true}) {
    for (const char* among : {"image", "text"}) {
      SearchRequest request = {
          .words = "0f0f", .among = among, .k = 1000, .rerank = rerank, .distinct = false};
      const auto all = Ids(site->Search(request));
      ASSERT_EQ(all.size(), 1000u);
      std::vector<int64_t> paged;
      request.k = 24;
      for (request.offset = 0; std::ssize(paged) < 960; request.offset += 24) {
        const auto page = Ids(site->Search(request));
        ASSERT_EQ(page.size(), 24u);
        paged.insert(paged.end(), page.begin(), page.end());
      }
      EXPECT_EQ(paged, std::vector<int64_t>(all.begin(), all.begin() + 960)) << among << rerank;
    }
  }
}

// The judge looks at every item in memory.
TEST(Searcher, AStoreOnDiskGivesTheSameAnswers) {
  Random random(24, {}, "questions");
  const std::vector<Item> items = RandomItems(200);
  TestFolder folder("searcher");
  const auto disk = SiteOnDisk(folder, items), memory = SiteOf(items);
  for (int round = 0; round < 300; ++round) {
    SearchRequest request = {.words = fmt::format("{:x}", random.Below(1 << 16)),
                             .among = random.Below(2) == 0 ? "image" : "text",
                             .k = 1 + static_cast<int64_t>(random.Below(40)),
                             .offset = static_cast<int64_t>(random.Below(30))};
    if (random.Below(3) == 0) request.filter.silos = {"silo 1", "silo 2"};
    if (random.Below(3) == 0) request.filter.classes = {"class 3"};
    if (random.Below(3) == 0) request.radius = static_cast<float>(random.Below(9));
    request.rerank = random.Below(4) == 0;
    request.distinct = random.Below(2) == 0;
    const auto got = disk->Search(request), want = memory->Search(request);
    ASSERT_EQ(Ids(got), Ids(want)) << round;
    ASSERT_EQ(got.more, want.more) << round;
    ASSERT_EQ(got.searched, want.searched) << round;
  }
}

TEST(Searcher, DamageInsideIsNoBadQuestion) {
  auto store = std::make_unique<MemoryStore>(SchemaOf(), FiveItems());
  store->Damage();
  const Site site("five", 1, std::move(store), std::make_unique<HexCoder>(), {});
  try {
    site.Search({.words = "0"});
    FAIL();
  } catch (const BadQuestion&) {
    FAIL();
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace crossilo

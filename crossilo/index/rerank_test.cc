#include "crossilo/index/rerank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Items in a map; what Rerank has no use for does nothing.
class FakeStore final : public Store {
 public:
  explicit FakeStore(Schema schema) : schema_(std::move(schema)) {}

  const Schema& schema() const override { return schema_; }
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  int64_t logged() const override { return 0; }
  std::string index_kind(int) const override { return "flat"; }
  std::vector<std::vector<Hit>> Search(int, std::span<const std::byte>, const Policy&,
                                       const Filter&) const override {
    return {};
  }
  std::optional<Item> Find(int64_t id) const override {
    const auto at = items_.find(id);
    return at == items_.end() ? std::nullopt : std::optional<Item>(at->second);
  }
  int64_t Count(int, const Filter&) const override { return size(); }
  std::vector<std::pair<std::string, int64_t>> Silos() const override { return {}; }
  std::vector<std::pair<std::string, int64_t>> Classes() const override { return {}; }
  void ForEach(const std::function<bool(const Item&)>&) const override {}
  bool Refresh() override { return false; }
  void Put(const Item& item) override { items_[item.id] = item; }
  bool Remove(int64_t id) override { return items_.erase(id) > 0; }
  void Commit() override {}
  void Compact() override {}
  void Verify() const override {}

 private:
  Schema schema_;
  std::map<int64_t, Item> items_;
};

FakeStore StoreOf(const std::map<int64_t, std::vector<float>>& image_vectors) {
  FakeStore store(
      {.columns = {"image", "text"}, .bits = 16, .vectors = "relaxed", .vector_dims = {2, 3}});
  for (const auto& [id, vector] : image_vectors) {
    Item item;
    item.id = id;
    item.vectors = {vector, {}};
    store.Put(item);
  }
  return store;
}

const std::vector<float> kQuery = {1, 0};

TEST(Rerank, ByCosineThenById) {
  const FakeStore store = StoreOf({{7, {3, 4}}, {5, {3, -4}}, {9, {2, 0}}, {1, {-1, 0}}});
  const std::vector<Hit> hits = Rerank(store, 0, kQuery, {{1, 0}, {7, 3}, {5, 3}, {9, 8}});
  // Cosines: 9 has 1, 5 and 7 have 3/5, 1 has -1.
  EXPECT_THAT(hits, ElementsAre(Hit{9, 0}, Hit{5, 1 - 0.6f}, Hit{7, 1 - 0.6f}, Hit{1, 2}));
  EXPECT_THAT(Rerank(store, 0, kQuery, {}), IsEmpty());
}

TEST(Rerank, WithoutAVectorKeepTheirOrderBehindTheOthers) {
  // 4 has none, 8 is gone, 3's is damaged, 6's has another length; 2 points
  // away from the query but is known.
  const FakeStore store =
      StoreOf({{2, {-1, 0}}, {4, {}}, {3, {NAN, 1}}, {6, {1, 0, 0}}, {5, {0, 1}}, {1, {0, 0}}});
  const auto hits =
      Rerank(store, 0, kQuery, {{8, 0}, {4, 1}, {2, 1}, {3, 2}, {6, 3}, {5, 3}, {1, 4}});
  EXPECT_THAT(hits, ElementsAre(Hit{1, 1}, Hit{5, 1}, Hit{2, 2},  // 1 is zero: cosine 0
                                Hit{8, 2}, Hit{4, 2}, Hit{3, 2}, Hit{6, 2}));
}

TEST(Rerank, AgreesWithSortingInDouble) {
  Random random(1, {}, "rerank");
  std::map<int64_t, std::vector<float>> vectors;
  std::vector<Hit> hits;
  std::vector<std::pair<double, int64_t>> expected;
  const std::vector<float> query = {0.3f, -2};
  for (int64_t id : random.Permutation(200)) {
    const float x = static_cast<float>(random.Normal()), y = static_cast<float>(random.Normal());
    vectors[id] = {x, y};
    hits.push_back({id, 0});
    const double cosine = (double{query[0]} * x + double{query[1]} * y) /
                          (std::hypot(query[0], query[1]) * std::hypot(x, y));
    expected.push_back({1 - cosine, id});
  }
  std::sort(expected.begin(), expected.end());
  const std::vector<Hit> ranked = Rerank(StoreOf(vectors), 0, query, hits);
  ASSERT_EQ(ranked.size(), 200u);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_NEAR(ranked[i].distance, expected[i].first, 2e-7);
    EXPECT_TRUE(i == 0 || Nearer(ranked[i - 1], ranked[i]));
  }
}

TEST(Rerank, RefusesWhatDoesNotFit) {
  const FakeStore store = StoreOf({{1, {1, 0}}});
  EXPECT_THROW(Rerank(store, 1, kQuery, {{1, 0}}), Error);  // text vectors have 3 values
  EXPECT_THROW(Rerank(store, 2, kQuery, {{1, 0}}), Error);
  EXPECT_THROW(Rerank(store, -1, kQuery, {{1, 0}}), Error);
  EXPECT_THROW(Rerank(store, 0, std::vector<float>{1, NAN}, {{1, 0}}), Error);
  EXPECT_THROW(Rerank(store, 0, {}, {{1, 0}}), Error);
  const FakeStore none({.columns = {"image"}, .bits = 16});
  EXPECT_THROW(Rerank(none, 0, kQuery, {{1, 0}}), Error);
}

}  // namespace
}  // namespace crossilo

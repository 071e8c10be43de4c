#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crossilo/index/store_test_items.h"

// The judge of the store's tests: items in a std::map, compared one by one.

namespace crossilo {

inline double DistanceOf(const Schema& schema, const std::vector<std::byte>& a,
                         const std::vector<std::byte>& b) {
  if (schema.dims == 0) {
    int different = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      different += std::popcount(std::to_integer<unsigned>(a[i] ^ b[i]));
    }
    return different;
  }
  double dot = 0, aa = 0, bb = 0;
  for (int d = 0; d < schema.dims; ++d) {
    float x, y;
    std::memcpy(&x, a.data() + d * 4, 4);
    std::memcpy(&y, b.data() + d * 4, 4);
    dot += double{x} * y;
    aa += double{x} * x;
    bb += double{y} * y;
  }
  return aa > 0 && bb > 0 ? 1 - dot / std::sqrt(aa * bb) : 1;
}

inline bool Passes(const Item& item, const Filter& filter) {
  const auto among = [](const auto& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  bool of_class = filter.classes.empty();
  for (const std::string& name : item.classes) of_class = of_class || among(filter.classes, name);
  return of_class && (filter.silos.empty() || among(filter.silos, item.silo));
}

// By distance, then id.
inline std::vector<Hit> BruteForce(const Schema& schema, const Items& items, int column,
                                   const std::vector<std::byte>& query, const Policy& policy,
                                   const Filter& filter) {
  std::vector<std::pair<double, int64_t>> all;
  for (const auto& [id, item] : items) {
    if (item.codes[column].empty() || !Passes(item, filter)) continue;
    const double distance = DistanceOf(schema, item.codes[column], query);
    if (distance <= policy.radius) all.emplace_back(distance, id);
  }
  // Values that only rounding tells apart are tied for floats.
  const auto rounded = [](double distance) { return std::round(distance * 1e5); };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return rounded(a.first) < rounded(b.first);
  });
  if (static_cast<int64_t>(all.size()) > policy.k) all.resize(policy.k);
  std::vector<Hit> hits;
  for (const auto& [distance, id] : all) hits.push_back({id, static_cast<float>(distance)});
  return hits;
}

inline Filter RandomFilter(Random& random) {
  Filter filter;
  if (random.Below(3) == 0) filter.silos = {"a", "nobody"};
  if (random.Below(3) == 0) filter.classes = {"cat", "bird"};
  return filter;
}

inline Items AllOf(const Store& store) {
  Items items;
  int64_t last = -1;
  store.ForEach([&](const Item& item) {
    EXPECT_GT(item.id, last) << "ForEach does not ascend";
    last = item.id;
    items[item.id] = item;
    return true;
  });
  return items;
}

inline void ExpectSameSearch(const Store& store, const Items& items, Random& random) {
  const Schema& schema = store.schema();
  const int column = static_cast<int>(random.Below(schema.columns.size()));
  std::vector<std::vector<std::byte>> queries;
  std::vector<std::byte> together;
  for (uint64_t q = 0; q < 1 + random.Below(3); ++q) {
    queries.push_back(RandomRow(schema, random));
    together.insert(together.end(), queries[q].begin(), queries[q].end());
  }
  Policy policy{.k = static_cast<int64_t>(random.Below(12)), .threads = 1};
  if (random.Below(3) == 0) {
    policy.radius = schema.dims > 0 ? 0.9f : static_cast<float>(random.Below(8));
    policy.k = Policy::kAll;
  }
  const Filter filter = RandomFilter(random);
  const auto found = store.Search(column, together, policy, filter);
  ASSERT_EQ(found.size(), queries.size());
  for (size_t q = 0; q < queries.size(); ++q) {
    const auto expected = BruteForce(schema, items, column, queries[q], policy, filter);
    ASSERT_EQ(found[q].size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[q][i].id, expected[i].id);
      EXPECT_NEAR(found[q][i].distance, expected[i].distance, schema.dims > 0 ? 1e-5 : 0);
    }
  }
}

// Everything that a reader can ask.
inline void ExpectSame(const Store& store, const Items& items, Random& random) {
  ASSERT_EQ(store.size(), static_cast<int64_t>(items.size()));
  EXPECT_TRUE(AllOf(store) == items);
  for (int tries = 0; tries < 3; ++tries) {
    const auto id = static_cast<int64_t>(random.Below(60));
    const auto expected = items.find(id);
    const std::optional<Item> found = store.Find(id);
    ASSERT_EQ(found.has_value(), expected != items.end());
    if (found) {
      EXPECT_TRUE(*found == expected->second);
    }
    ExpectSameSearch(store, items, random);
  }
  const Filter filter = RandomFilter(random);
  int64_t count = 0;
  std::map<std::string, int64_t> silos, classes;
  for (const auto& [id, item] : items) {
    count += Passes(item, filter) && !item.codes[0].empty();
    ++silos[item.silo];
    for (const std::string& name : item.classes) ++classes[name];
  }
  EXPECT_EQ(store.Count(0, filter), count);
  EXPECT_EQ(store.Silos(),
            (std::vector<std::pair<std::string, int64_t>>(silos.begin(), silos.end())));
  EXPECT_EQ(store.Classes(),
            (std::vector<std::pair<std::string, int64_t>>(classes.begin(), classes.end())));
}

}  // namespace crossilo

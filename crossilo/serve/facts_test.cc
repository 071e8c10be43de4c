#include "crossilo/serve/facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;

TEST(Facts, TakesTheKnownKeysAndPassesTheOthersOn) {
  const Facts facts = ReadFacts(
      R"({"name": "n", "caption": "c", "picture": "p.png", "source": 2, "emoji": "😀", "x": [1]})");
  EXPECT_EQ(facts.name, "n");
  EXPECT_EQ(facts.caption, "c");
  EXPECT_EQ(facts.picture, "p.png");
  EXPECT_EQ(facts.source, 2);
  EXPECT_EQ(facts.other, R"({"emoji":"😀","x":[1]})");
}

TEST(Facts, WhatHasAnotherTypeIsMissing) {
  const Facts facts = ReadFacts(R"({"name": 1, "caption": ["c"], "picture": null})");
  EXPECT_EQ(facts.name + facts.caption + facts.picture, "");
  EXPECT_EQ(facts.source, 0);
  EXPECT_EQ(facts.other, "{}");
}

TEST(Facts, SourcesThatCannotBeAreNone) {
  for (const char* source : {"-1", "1.5", "\"0\"", "99999999999", "18446744073709551615"}) {
    EXPECT_EQ(ReadFacts(std::string("{\"source\": ") + source + "}").source, -1) << source;
  }
}

TEST(Facts, WhatIsNoObjectHasNone) {
  for (const std::string& json : {std::string(), std::string("[1]"), std::string("{\"a\": \xff}"),
                                  std::string("{"), "{\"a\": " + std::string(1'000'000, '[')}) {
    EXPECT_EQ(ReadFacts(json).other, "{}");
    EXPECT_EQ(CaptionOf(json), "");
  }
}

// A tree of random parts.
Json Any(Random& random, int depth) {
  const uint64_t kind = random.Below(depth > 3 ? 5 : 7);
  if (kind == 0) return random.Below(1000);
  if (kind == 1) return -static_cast<int64_t>(random.Below(1000));
  if (kind == 2) return random.Normal();
  if (kind == 3) return random.Below(2) == 0 ? Json(nullptr) : Json(random.Below(2) == 0);
  if (kind == 4) return std::string("a\"\\\n猫").substr(0, random.Below(5));
  Json out = kind == 5 ? Json::array() : Json::object();
  static const char* const kKeys[] = {"name", "caption", "picture", "source", "a", "b", ""};
  for (uint64_t i = random.Below(5); i > 0; --i) {
    Json part = Any(random, depth + 1);
    if (kind == 5) {
      out.push_back(std::move(part));
    } else {
      out[kKeys[random.Below(7)]] = std::move(part);
    }
  }
  return out;
}

// The judge reads all of it into a tree and takes the known keys out.
TEST(Facts, WhateverTheTree) {
  Random random(9, {}, "facts");
  int objects = 0;
  for (int round = 0; round < 5'000; ++round) {
    Json tree = Any(random, 0);
    const Facts facts = ReadFacts(tree.dump());
    if (!tree.is_object()) tree = Json::object();
    objects += !tree.empty();
    const auto text = [&](const char* key) {
      return tree.contains(key) && tree[key].is_string() ? tree[key].get<std::string>() : "";
    };
    ASSERT_EQ(facts.name, text("name")) << tree;
    ASSERT_EQ(facts.caption, text("caption")) << tree;
    ASSERT_EQ(facts.picture, text("picture")) << tree;
    const Json source = tree.value("source", Json(0));
    ASSERT_EQ(facts.source,
              source.is_number_unsigned() || !tree.contains("source") ? source.get<int>() : -1)
        << tree;
    for (const char* key : {"name", "caption", "picture", "source"}) tree.erase(key);
    ASSERT_EQ(Json::parse(facts.other), tree);
  }
  EXPECT_GT(objects, 300);
}

}  // namespace
}  // namespace crossilo

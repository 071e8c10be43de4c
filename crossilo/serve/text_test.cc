#include "crossilo/serve/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using namespace std::string_literals;

TEST(Text, CountsCharacters) {
  EXPECT_EQ(CountCharacters(""), 0);
  EXPECT_EQ(CountCharacters("cat"), 3);
  EXPECT_EQ(CountCharacters("ça"), 2);
  EXPECT_EQ(CountCharacters("微笑的猫"), 4);
  EXPECT_EQ(CountCharacters("😀\U0010FFFF"), 2);
}

TEST(Text, RefusesWhatIsNotUtf8) {
  for (const std::string& bytes :
       {"\x80"s, "\xC0\x80"s /* too long */, "\xC3"s /* cut off */, "\xE0\x9F\xBF"s,
        "\xED\xA0\x80"s /* half a pair */, "\xF4\x90\x80\x80"s /* above U+10FFFF */, "\xFF"s,
        "a\xE2\x82"s}) {
    EXPECT_EQ(CountCharacters(bytes), std::nullopt) << bytes;
  }
}

TEST(Text, JsonStringsReadBack) {
  const std::string text = "a \"b\" \\ / \n\t\0\x7f é 猫 😀 </script>"s;
  std::string out;
  AppendJson(out, text);
  EXPECT_EQ(nlohmann::json::parse(out).get<std::string>(), text);
}

TEST(Text, JsonReplacesWhatIsNotUtf8) {
  std::string out;
  AppendJson(out,
             "a\xFF"
             "b\xC3");
  EXPECT_EQ(out, "\"a\uFFFDb\uFFFD\"");
}

TEST(Text, AnyBytesGiveValidJson) {
  Random random(5, {}, "bytes");
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random.Below(12), ' '), out;
    for (char& c : bytes) c = static_cast<char>(random.Below(256));
    AppendJson(out, bytes);
    const auto read = nlohmann::json::parse(out, nullptr, false);
    ASSERT_TRUE(read.is_string());
    if (CountCharacters(bytes)) {
      ASSERT_EQ(read.get<std::string>(), bytes);
    }
  }
}

TEST(Text, NestingSkipsStrings) {
  EXPECT_EQ(NestingDepth("[[1], {\"a\": [2]}]"), 3);
  EXPECT_EQ(NestingDepth("[\"[[[\\\"[[\", 1]"), 1);
  EXPECT_EQ(NestingDepth("]]]]["), 0);
  EXPECT_EQ(NestingDepth(std::string(100'000, '[')), 100'000);
}

TEST(Text, ShortensBetweenCharacters) {
  EXPECT_EQ(Shortened("猫猫猫", 2), "猫猫...");
  EXPECT_EQ(Shortened("猫猫", 2), "猫猫");
}

}  // namespace
}  // namespace crossilo

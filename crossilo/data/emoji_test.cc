#include "crossilo/data/emoji.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/data/emojibase.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kMessages = R"({
  "groups": [{"key": "smileys-emotion", "message": "smileys", "order": 0},
             {"key": "component", "message": "components", "order": 2},
             {"key": "flags", "message": "flags", "order": 9}],
  "subgroups": [{"key": "face-smiling", "message": "smiling", "order": 0},
                {"key": "heart", "message": "hearts", "order": 11},
                {"key": "subdivision-flag", "message": "subdivision flags", "order": 99}]})";

// Out of order, with a component and a letter that has no group.
constexpr const char* kData = R"([
  {"label": "flag: Wales", "hexcode": "1F3F4-E0067-E0062-E0077-E006C-E0073-E007F", "emoji": "W",
   "order": 9, "group": 9, "subgroup": 99, "tags": ["flag"]},
  {"label": "red heart", "hexcode": "2764", "emoji": "H", "order": 2, "group": 0,
   "subgroup": 11, "tags": ["love", "red"]},
  {"label": "grinning face", "hexcode": "1F600", "emoji": "G", "order": 1, "group": 0,
   "subgroup": 0},
  {"label": "light skin tone", "hexcode": "1F3FB", "emoji": "L", "order": 3, "group": 2,
   "subgroup": 32},
  {"label": "regional indicator A", "hexcode": "1F1E6", "emoji": "A"}])";

fs::path Packages(const std::string& messages = kMessages, const std::string& data = kData) {
  const fs::path root = fs::path(testing::TempDir()) / "emoji_test";
  RemoveAll(root);
  WriteFile(root / "emojibase-data/en/messages.json", messages);
  WriteFile(root / "emojibase-data/en/data.json", data);
  const fs::path google = root / "emoji-datasource-google/img/google/64";
  for (const char* name : {"1f600.png", "2764-fe0f.png", "1f3fb.png", "1f1e6.png"}) {
    WriteFile(google / name, "x");
  }
  WriteFile(root / "emoji-datasource-twitter/img/twitter/64/1f600.png", "x");
  const fs::path fluent = root / "@lobehub/fluent-emoji-3d/assets";
  WriteFile(fluent / "2764.webp", "x");
  WriteFile(fluent / "1f3f4-e0067_e0062_e0077_e006c_e0073.webp", "x");
  return root;
}

TEST(Emoji, JoinsDrawingsWithNamesHoweverTheyAreSpelt) {
  const fs::path root = Packages();
  const Collection all = ReadEmoji(root);
  std::vector<std::string> ids, words;
  for (int64_t row = 0; row < all.size(); ++row) ids.emplace_back(all.items.Cell(row, "id"));
  EXPECT_THAT(ids, ElementsAre("google/1f600", "twitter/1f600", "google/2764", "microsoft/2764",
                               "microsoft/1f3f4-e0067-e0062-e0077-e006c-e0073"));
  EXPECT_EQ(all.items.Cell(2, "caption"), "red heart");
  EXPECT_EQ(all.items.Cell(2, "tags"), "love red");
  EXPECT_EQ(all.items.Cell(3, "house"), "microsoft");
  EXPECT_EQ(all.items.Cell(3, "emoji"), "H");
  EXPECT_EQ(all.words[3], "red heart love red");
  for (int64_t row = 0; row < all.size(); ++row) EXPECT_TRUE(fs::exists(all.PictureFile(row)));
}

TEST(Emoji, LabelsAreSubgroupsAndGroupsThatHaveDrawings) {
  const Collection all = ReadEmoji(Packages());
  EXPECT_THAT(all.labels.at("").names, ElementsAre("smiling", "hearts", "subdivision flags"));
  EXPECT_THAT(all.labels.at("").of, ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1),
                                                ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(all.labels.at("group").names, ElementsAre("smileys", "flags"));
  EXPECT_THAT(all.labels.at("group").of[4], ElementsAre(1));
}

TEST(Emoji, TheDrawingsOfOneEmojiShareASplit) {
  const Collection all = ReadEmoji(Packages());
  // A fifth of three emoji, rounded up, is one.
  const auto& query = all.splits.at("query");
  ASSERT_FALSE(query.empty());
  for (int64_t row = 0; row < all.size(); ++row) {
    const bool same = all.items.Cell(row, "emoji") == all.items.Cell(query[0], "emoji");
    EXPECT_EQ(std::find(query.begin(), query.end(), row) != query.end(), same) << row;
  }
}

TEST(Emoji, OtherLanguagesAreTranslationsOfTheRows) {
  const fs::path root = Packages();
  WriteFile(root / "emojibase-data/fr/data.json", R"([
    {"label": "cœur rouge", "hexcode": "2764-FE0F", "tags": ["amour"]},
    {"label": "visage rieur", "hexcode": "1F600"}])");
  WriteFile(root / "emojibase-data/en-gb/data.json", "[]");
  fs::create_directories(root / "emojibase-data/meta");
  EXPECT_THAT(EmojiLanguages(root), ElementsAre("fr"));
  EXPECT_TRUE(EmojiLanguages(root / "nowhere").empty());
  EXPECT_TRUE(ReadEmoji(root).translations.empty());
  const Collection all = ReadEmoji(root, {"fr"});
  EXPECT_EQ(all.words, ReadEmoji(root).words);
  EXPECT_THAT(all.translations.at("fr"),
              ElementsAre("visage rieur ", "visage rieur ", "cœur rouge amour", "cœur rouge amour",
                          ""));  // nobody named Wales
  EXPECT_EQ(ReadEmojiNames(root, "fr").at("2764").tags, "amour");
  EXPECT_THAT([&] { ReadEmoji(root, {"xx"}); }, ThrowsMessage<Error>(HasSubstr("xx/data.json")));
  for (const char* name : {"../en", "", ".", "/etc"}) {
    EXPECT_THAT([&] { ReadEmoji(root, {name}); }, ThrowsMessage<Error>(HasSubstr("no language")));
  }
  WriteFile(root / "emojibase-data/fr/data.json", R"([{"label": 5}])");
  EXPECT_THAT([&] { ReadEmoji(root, {"fr"}); },
              ThrowsMessage<Error>(HasSubstr("emojibase-data/fr")));
}

TEST(Emoji, AMissingPackageIsNamed) {
  const auto without = [](const char* what, const char* why) {
    const fs::path root = Packages();
    RemoveAll(root / what);
    EXPECT_THAT([&] { ReadEmoji(root); }, ThrowsMessage<Error>(HasSubstr(why)));
  };
  without("emojibase-data", "fetch_emoji.sh");
  without("emoji-datasource-twitter", "emoji-datasource-twitter/img/twitter/64: no drawings");
  without("@lobehub", "fluent-emoji-3d/assets: no drawings");
  EXPECT_THAT([] { ReadEmoji(Packages(kMessages, "[]")); },
              ThrowsMessage<Error>(HasSubstr("no emoji has a drawing")));
  EXPECT_THAT([] { ReadEmoji(Packages("[1]")); }, ThrowsMessage<Error>(HasSubstr("emojibase")));
}

TEST(Emoji, DamageIsRefusedNeverCrashes) {
  Random random(5);
  const std::string whole = kData;
  const fs::path root = Packages();
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole.substr(0, random.Below(2) ? whole.size() : random.Below(900));
    for (int hits = 0; hits < 3 && !damaged.empty(); ++hits) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
    }
    WriteFile(root / "emojibase-data/en/data.json", damaged);
    try {
      ReadEmoji(root);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace crossilo

#include "crossilo/data/emoji.h"

#include <algorithm>
#include <array>

#include "crossilo/base/error.h"
#include "crossilo/data/emojibase.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct House {
  const char* name;
  const char* folder;
};
constexpr std::array<House, 3> kHouses = {{
    {"google", "emoji-datasource-google/img/google/64"},
    {"twitter", "emoji-datasource-twitter/img/twitter/64"},
    {"microsoft", "@lobehub/fluent-emoji-3d/assets"},
}};

// Key of the emoji -> file name, sorted first wins where two spell the same.
std::map<std::string, std::string> Drawings(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::string> names;
  fs::directory_iterator entries(folder, failed);
  if (!failed) {
    for (const auto& entry : entries) names.push_back(entry.path().filename().string());
  }
  if (names.empty()) {
    throw Error("{}: no drawings there; fetch the packages with scripts/fetch_emoji.sh",
                folder.string());
  }
  std::sort(names.begin(), names.end());
  std::map<std::string, std::string> files;
  for (const std::string& name : names) files.try_emplace(EmojiKey(fs::path(name).stem()), name);
  return files;
}

// Classes that have at least one row, in the order of their numbers.
Labelling Level(const std::vector<int>& numbers, const std::map<int, std::string>& names) {
  std::map<int, int> index;
  for (int number : numbers) index[number] = 0;
  Labelling level;
  for (auto& [number, place] : index) {
    place = static_cast<int>(level.names.size());
    level.names.push_back(names.contains(number) ? names.at(number) : std::to_string(number));
  }
  for (int number : numbers) level.of.push_back({index.at(number)});
  return level;
}

// Rows whose emoji the language does not name stay empty.
std::vector<std::string> Translated(const fs::path& packages, const std::string& language,
                                    const std::vector<std::string>& keys) {
  const auto names = ReadEmojiNames(packages, language);
  std::vector<std::string> texts;
  for (const std::string& key : keys) {
    const auto found = names.find(key);
    texts.push_back(found == names.end() ? "" : found->second.label + " " + found->second.tags);
  }
  return texts;
}

}  // namespace

Collection ReadEmoji(const fs::path& packages, const std::vector<std::string>& languages) {
  const Emojibase names = ReadEmojibase(packages);
  std::vector<std::map<std::string, std::string>> drawings;
  for (const House& house : kHouses) drawings.push_back(Drawings(packages / house.folder));
  Collection all;
  all.name = "emoji";
  all.licence = "Noto Emoji: Apache-2.0; Twemoji: CC-BY-4.0; Fluent Emoji: MIT; emojibase: MIT";
  all.source =
      "npm: emoji-datasource-google, emoji-datasource-twitter, @lobehub/fluent-emoji-3d, "
      "emojibase-data";
  all.pictures_root = packages;
  all.items.columns = {"id", "caption", "picture", "emoji", "house", "tags"};
  std::vector<int> group, subgroup;
  std::vector<std::string> keys;
  for (const Emoji& one : names.emoji) {
    for (size_t h = 0; h < kHouses.size(); ++h) {
      const auto file = drawings[h].find(one.key);
      if (file == drawings[h].end()) continue;
      const std::string house = kHouses[h].name;
      const std::string picture = kHouses[h].folder + ("/" + file->second);
      all.items.rows.push_back(
          {house + "/" + one.key, one.label, picture, one.character, house, one.tags});
      all.words.push_back(one.label + " " + one.tags);
      group.push_back(one.group);
      subgroup.push_back(one.subgroup);
      keys.push_back(one.key);
    }
  }
  if (keys.empty()) throw Error("{}: no emoji has a drawing there", packages.string());
  all.labels[""] = Level(subgroup, names.subgroups);
  all.labels["group"] = Level(group, names.groups);
  all.splits = SplitByKey(keys);
  for (const std::string& language : languages) {
    all.translations[language] = Translated(packages, language, keys);
  }
  return all;
}

}  // namespace crossilo

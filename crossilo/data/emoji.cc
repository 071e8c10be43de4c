#include "crossilo/data/emoji.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct House {
  const char* name;
  const char* folder;
};
constexpr std::array<House, 3> kHouses = {{
    {"google", "emoji-datasource-google/img/google/64"},
    {"twitter", "emoji-datasource-twitter/img/twitter/64"},
    {"microsoft", "@lobehub/fluent-emoji-3d/assets"},
}};

struct Emoji {
  std::string key, character, label, tags;
  int group, subgroup;
};

// The packages spell one emoji in several ways: with or without the variation
// selector fe0f and the closing tag e007f, with _ between tags.
std::string Key(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
    return letter == '_' ? '-' : static_cast<char>(std::tolower(letter));
  });
  std::string key;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('-', start), name.size());
    const std::string point = name.substr(start, end - start);
    if (point != "fe0f" && point != "e007f") {
      if (!key.empty()) key += '-';
      key += point;
    }
    start = end + 1;
  }
  return key;
}

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
  for (const std::string& name : names) files.try_emplace(Key(fs::path(name).stem()), name);
  return files;
}

Json ReadJson(const fs::path& path) {
  if (!fs::exists(path)) {
    throw Error("{}: not there; fetch the packages with scripts/fetch_emoji.sh", path.string());
  }
  try {
    return Json::parse(ReadFile(path));
  } catch (const Json::exception& error) {
    throw Error("{}: damaged: {}; fetch the packages again", path.string(), error.what());
  }
}

// order -> message; the component group's name is left out of `groups`.
std::map<int, std::string> Messages(const Json& messages) {
  std::map<int, std::string> names;
  for (const Json& entry : messages) {
    if (entry.at("key").get<std::string>() == "component") continue;
    names[entry.at("order").get<int>()] = entry.at("message").get<std::string>();
  }
  return names;
}

std::vector<Emoji> ReadEmojiNames(const Json& data, const std::map<int, std::string>& groups) {
  std::vector<std::pair<int, Emoji>> sorted;
  for (const Json& entry : data) {
    const int group = entry.value("group", -1);
    if (!groups.contains(group)) continue;
    std::string tags;
    for (const Json& tag : entry.value("tags", Json::array())) {
      if (!tags.empty()) tags += ' ';
      tags += tag.get<std::string>();
    }
    sorted.emplace_back(
        entry.at("order").get<int>(),
        Emoji{Key(entry.at("hexcode").get<std::string>()), entry.at("emoji").get<std::string>(),
              entry.at("label").get<std::string>(), tags, group, entry.at("subgroup").get<int>()});
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Emoji> all;
  for (auto& [order, emoji] : sorted) all.push_back(std::move(emoji));
  return all;
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

struct Names {
  std::map<int, std::string> groups, subgroups;
  std::vector<Emoji> emoji;
};

Names ReadNames(const fs::path& folder) {
  const Json messages = ReadJson(folder / "messages.json"), data = ReadJson(folder / "data.json");
  try {
    Names names{Messages(messages.at("groups")), Messages(messages.at("subgroups")), {}};
    names.emoji = ReadEmojiNames(data, names.groups);
    return names;
  } catch (const Json::exception& error) {
    throw Error("{}: not as emojibase-data 17 writes it: {}; fetch the packages again",
                folder.string(), error.what());
  }
}

}  // namespace

Collection ReadEmoji(const fs::path& packages) {
  const Names names = ReadNames(packages / "emojibase-data" / "en");
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
  return all;
}

}  // namespace crossilo

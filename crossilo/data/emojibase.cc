#include "crossilo/data/emojibase.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

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

std::string Tags(const Json& entry) {
  std::string tags;
  for (const Json& tag : entry.value("tags", Json::array())) {
    if (!tags.empty()) tags += ' ';
    tags += tag.get<std::string>();
  }
  return tags;
}

std::vector<Emoji> InOrder(const Json& data, const std::map<int, std::string>& groups) {
  std::vector<std::pair<int, Emoji>> sorted;
  for (const Json& entry : data) {
    const int group = entry.value("group", -1);
    if (!groups.contains(group)) continue;
    sorted.emplace_back(
        entry.at("order").get<int>(),
        Emoji{EmojiKey(entry.at("hexcode").get<std::string>()),
              entry.at("emoji").get<std::string>(), entry.at("label").get<std::string>(),
              Tags(entry), group, entry.at("subgroup").get<int>()});
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Emoji> all;
  for (auto& [order, emoji] : sorted) all.push_back(std::move(emoji));
  return all;
}

[[noreturn]] void NotAsWritten(const fs::path& folder, const Json::exception& error) {
  throw Error("{}: not as emojibase-data 17 writes it: {}; fetch the packages again",
              folder.string(), error.what());
}

}  // namespace

std::string EmojiKey(std::string name) {
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

Emojibase ReadEmojibase(const fs::path& packages) {
  const fs::path folder = packages / "emojibase-data" / "en";
  const Json messages = ReadJson(folder / "messages.json"), data = ReadJson(folder / "data.json");
  try {
    Emojibase names{Messages(messages.at("groups")), Messages(messages.at("subgroups")), {}};
    names.emoji = InOrder(data, names.groups);
    return names;
  } catch (const Json::exception& error) {
    NotAsWritten(folder, error);
  }
}

std::vector<std::string> EmojiLanguages(const fs::path& packages) {
  std::vector<std::string> languages;
  std::error_code failed;
  fs::directory_iterator entries(packages / "emojibase-data", failed);
  if (failed) return languages;
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    const bool english = name == "en" || name.starts_with("en-");
    if (!english && fs::exists(entry.path() / "data.json", failed)) languages.push_back(name);
  }
  std::sort(languages.begin(), languages.end());
  return languages;
}

std::map<std::string, EmojiName> ReadEmojiNames(const fs::path& packages,
                                                const std::string& language) {
  if (language.empty() || fs::path(language).filename() != language || language.starts_with('.')) {
    throw Error("'{}' is no language of emojibase-data; its folders are named like fr or zh-hant",
                language);
  }
  const fs::path folder = packages / "emojibase-data" / language;
  const Json data = ReadJson(folder / "data.json");
  std::map<std::string, EmojiName> names;
  try {
    for (const Json& entry : data) {
      names.try_emplace(EmojiKey(entry.at("hexcode").get<std::string>()),
                        EmojiName{entry.at("label").get<std::string>(), Tags(entry)});
    }
  } catch (const Json::exception& error) {
    NotAsWritten(folder, error);
  }
  return names;
}

}  // namespace crossilo

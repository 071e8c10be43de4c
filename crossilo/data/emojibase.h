#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

// What the npm package emojibase-data says of emoji.  `packages` is the folder
// that holds it as emojibase-data.  All throw Error naming what is missing or
// damaged.
namespace crossilo {

// One name for an emoji, such as "1f468-200d-1f33e".  The packages spell its code
// points in several ways: with or without the variation selector fe0f and the
// closing tag e007f, with _ between tags.
std::string EmojiKey(std::string code_points);

struct Emoji {
  std::string key, character, label, tags;
  int group, subgroup;
};

// In English and in emojibase's order, with the names of groups and subgroups;
// parts of emoji and letters without a group are left out.
struct Emojibase {
  std::map<int, std::string> groups, subgroups;
  std::vector<Emoji> emoji;
};
Emojibase ReadEmojibase(const std::filesystem::path& packages);

// The languages that are there besides English, sorted: "de", "fr", "zh-hant".
// None where the package is missing.  British English is left out: its words
// would compete with the American ones.
std::vector<std::string> EmojiLanguages(const std::filesystem::path& packages);

// What each emoji is called in a language, by key.
struct EmojiName {
  std::string label, tags;  // "grinning cat", "animal cat face"
};
std::map<std::string, EmojiName> ReadEmojiNames(const std::filesystem::path& packages,
                                                const std::string& language);

}  // namespace crossilo

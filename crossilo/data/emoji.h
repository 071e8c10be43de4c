#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "crossilo/data/collection.h"

namespace crossilo {

// Emoji as three design houses draw them, one row a drawing: Google's Noto,
// Twitter's Twemoji and Microsoft's Fluent, with the names, tags, groups and
// subgroups of emojibase.  `packages` holds the npm packages, each unpacked
// into a folder of its name (scripts/fetch_emoji.sh makes it):
//   emojibase-data/en/{data,messages}.json, emojibase-data/LANGUAGE/data.json
//   emoji-datasource-google/img/google/64/*.png
//   emoji-datasource-twitter/img/twitter/64/*.png
//   @lobehub/fluent-emoji-3d/assets/*.webp
// Columns: id, caption, picture, emoji, house, tags.  Labels: "" the
// subgroup, "group" the group; parts of emoji (skin tones, hair) and letters
// without a group are left out.  A fifth of the emoji, in all their drawings,
// are queries.  `languages` are those of the translations: labels and tags.
// Throws Error naming the package or language that is missing or damaged.
Collection ReadEmoji(const std::filesystem::path& packages,
                     const std::vector<std::string>& languages = {});

}  // namespace crossilo

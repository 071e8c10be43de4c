#include "crossilo/data/collection.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Cut(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t end; (end = text.find(at)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.emplace_back(text.substr(0, end));
  }
  parts.emplace_back(text);
  return parts;
}

// The lines that are not empty, with their numbers in the file.
std::vector<std::pair<int64_t, std::vector<std::string>>> TableLines(const fs::path& path) {
  std::string text = ReadFile(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // a byte order mark
  std::vector<std::pair<int64_t, std::vector<std::string>>> lines;
  int64_t number = 0;
  for (std::string& line : Cut(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.emplace_back(number, Cut(line, '\t'));
  }
  if (lines.empty()) throw Error("{}: no captions in it", path.string());
  return lines;
}

bool IsHeader(const std::vector<std::string>& cells) {
  const auto has = [&](const char* name) {
    return std::find(cells.begin(), cells.end(), name) != cells.end();
  };
  return has("picture") && has("caption");
}

Items ReadCaptions(const fs::path& path) {
  auto lines = TableLines(path);
  Items items;
  if (IsHeader(lines.front().second)) {
    items.columns = lines.front().second;
    lines.erase(lines.begin());
    if (lines.empty()) throw Error("{}: no captions below the header", path.string());
  } else {
    items.columns = {"picture", "caption"};
  }
  std::set<std::string> names(items.columns.begin(), items.columns.end());
  if (names.size() != items.columns.size()) {
    throw Error("{}: two columns have the same name; rename one", path.string());
  }
  const bool number = !items.Has("id");
  for (auto& [line, cells] : lines) {
    if (cells.size() != items.columns.size()) {
      throw Error(
          "{}: line {}: {} columns, not {}; a picture's file and its caption belong on "
          "one line, a tab between them",
          path.string(), line, cells.size(), items.columns.size());
    }
    if (number) cells.push_back(std::to_string(items.rows.size()));
    items.rows.push_back(std::move(cells));
  }
  if (number) items.columns.push_back("id");
  return items;
}

// A caption file may come from anybody: it must not reach outside its folder.
void CheckPictures(const Collection& all, const fs::path& captions) {
  for (int64_t row = 0; row < all.size(); ++row) {
    const fs::path picture(std::string(all.items.Cell(row, "picture")));
    const bool climbs = std::find(picture.begin(), picture.end(), "..") != picture.end();
    if (picture.empty() || picture.is_absolute() || climbs) {
      throw Error("{}: picture '{}' must be a file below {}", captions.string(), picture.string(),
                  all.pictures_root.string());
    }
    std::error_code failed;
    if (!fs::is_regular_file(all.PictureFile(row), failed)) {
      throw Error("{}: picture '{}' is not in {}; add it or remove its line", captions.string(),
                  picture.string(), all.pictures_root.string());
    }
  }
}

Labelling ReadLevel(const Items& items, const std::string& column) {
  std::map<std::string, int> number;
  std::vector<std::set<std::string>> names(items.rows.size());
  for (size_t row = 0; row < names.size(); ++row) {
    for (std::string& name : Cut(items.Cell(static_cast<int64_t>(row), column), '|')) {
      if (name.empty()) continue;
      number[name] = 0;
      names[row].insert(std::move(name));
    }
  }
  Labelling level;
  for (auto& [name, value] : number) {
    value = static_cast<int>(level.names.size());
    level.names.push_back(name);
  }
  for (const auto& row : names) {
    auto& classes = level.of.emplace_back();
    for (const std::string& name : row) classes.push_back(number.at(name));
  }
  return level;
}

std::map<std::string, std::vector<int64_t>> ReadSplits(const Items& items,
                                                       const fs::path& captions) {
  std::map<std::string, std::vector<int64_t>> splits;
  for (int64_t row = 0; row < static_cast<int64_t>(items.rows.size()); ++row) {
    const std::string name(items.Cell(row, "split"));
    if (name == "training" || name == "retrieval") splits["retrieval"].push_back(row);
    if (name == "training" || name == "query") splits[name].push_back(row);
    if (name != "training" && name != "retrieval" && name != "query") {
      throw Error("{}: split '{}' is not known; write training, retrieval or query",
                  captions.string(), name);
    }
  }
  for (const char* name : {"training", "query"}) {
    if (!splits.contains(name)) {
      throw Error("{}: no row has the split {}; mark some", captions.string(), name);
    }
  }
  return splits;
}

}  // namespace

fs::path Collection::PictureFile(int64_t row) const {
  return pictures_root / std::string(items.Cell(row, "picture"));
}

std::map<std::string, std::vector<int64_t>> SplitByKey(const std::vector<std::string>& keys) {
  std::map<std::string, std::string> digest;
  for (const std::string& key : keys) digest[key] = "";
  std::vector<std::pair<std::string, std::string>> order;
  for (auto& [key, hash] : digest) order.emplace_back(hash = Sha256(key), key);
  std::sort(order.begin(), order.end());
  std::set<std::string> held_out;
  for (size_t i = 0; i < (order.size() + 4) / 5; ++i) held_out.insert(order[i].second);

  std::map<std::string, std::vector<int64_t>> splits;
  for (size_t row = 0; row < keys.size(); ++row) {
    if (held_out.contains(keys[row])) {
      splits["query"].push_back(static_cast<int64_t>(row));
    } else {
      splits["training"].push_back(static_cast<int64_t>(row));
    }
  }
  splits["retrieval"] = splits["training"];
  return splits;
}

Collection ReadCaptionedFolder(const fs::path& folder, const fs::path& captions) {
  Collection all;
  all.name =
      folder.has_filename() ? folder.filename().string() : folder.parent_path().filename().string();
  all.source = captions.filename().string();
  all.pictures_root = folder;
  all.items = ReadCaptions(captions);
  CheckPictures(all, captions);
  std::vector<std::string> pictures;
  for (int64_t row = 0; row < all.size(); ++row) {
    pictures.emplace_back(all.items.Cell(row, "picture"));
    std::string& words = all.words.emplace_back(all.items.Cell(row, "caption"));
    if (all.items.Has("tags")) words += " " + std::string(all.items.Cell(row, "tags"));
  }
  for (const std::string& column : all.items.columns) {
    if (column == "label") all.labels[""] = ReadLevel(all.items, column);
    if (column.starts_with("label:")) all.labels[column.substr(6)] = ReadLevel(all.items, column);
  }
  all.splits = all.items.Has("split") ? ReadSplits(all.items, captions) : SplitByKey(pictures);
  return all;
}

}  // namespace crossilo

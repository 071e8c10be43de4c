#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "crossilo/data/items.h"

namespace crossilo {

// One level of labels: row r has the classes of[r], each an index into names.
struct Labelling {
  std::vector<std::string> names;
  std::vector<std::vector<int>> of;
};

// Raw pictures and words, before an embedder turns them into features.
struct Collection {
  std::string name, licence, source;
  Items items;                          // has id, caption and picture
  std::filesystem::path pictures_root;  // what the column picture is relative to
  std::vector<std::string> words;       // what is embedded as text, one a row
  // What `words` says in other languages, by language, one a row, "" where
  // nobody said; only teaches the words' embedder those languages.
  std::map<std::string, std::vector<std::string>> translations;
  std::map<std::string, Labelling> labels;             // by level; "" is the one that counts
  std::map<std::string, std::vector<int64_t>> splits;  // "training", "retrieval", "query"

  int64_t size() const { return static_cast<int64_t>(items.rows.size()); }
  std::filesystem::path PictureFile(int64_t row) const;
};

// Holds out a fifth of the distinct keys as queries; the rest is both
// retrieval and training.  Rows with one key stay together, so that no drawing
// of a held-out thing is trained on.  The order of SHA-256(key) decides:
// no seed, and a new key disturbs few others.
std::map<std::string, std::vector<int64_t>> SplitByKey(const std::vector<std::string>& keys);

// A folder of pictures and a file of captions, UTF-8, columns separated by
// tabs: either two columns, picture and caption, or a header line that names
// the columns.  Known are picture (below the folder), caption, id, tags (more
// words for the text), split (training, retrieval or query), label and
// label:LEVEL (classes, several separated by |); any other is kept.  Throws
// Error with the line on a missing picture or a row of the wrong length.
Collection ReadCaptionedFolder(const std::filesystem::path& folder,
                               const std::filesystem::path& captions);

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crossilo/base/error.h"
#include "crossilo/index/store.h"

namespace crossilo {

// The one who asked can do something about it, and the sentence says what.
// Every other exception out of here is about the inside, and not for them.
struct BadQuestion : Error {
  using Error::Error;
};

// A question as the model's code.
struct CodedQuery {
  std::vector<std::byte> code;  // a row as the store has them
  std::vector<float> relaxed;   // what `code` was made of
  std::vector<float> features;  // and what that was made of
};

// Turns what a person asks with into codes: the one thing that `serve` does not
// know how to do.  Safe to call from many threads.  Throws Error with a
// sentence for the person who asked: no known word, not a picture.
class QueryCoder {
 public:
  virtual ~QueryCoder() = default;
  virtual CodedQuery Words(const std::string& words) const = 0;
  virtual CodedQuery Picture(const std::string& bytes) const = 0;
  // Without them the question is refused with the reason.
  virtual bool knows_words() const = 0;
  virtual bool knows_pictures() const = 0;
};

struct SearchRequest {
  // One of the three.
  std::string words;
  std::string picture;  // the file's bytes: PNG, JPEG or WebP
  int64_t like = -1;    // items like this one, by its id
  // "image" or "text"; "": words for a picture, pictures for anything else.
  std::string among;
  int64_t k = 20, offset = 0;
  float radius = Policy::kAnyDistance;
  Filter filter;
  bool rerank = false;
  bool distinct = true;  // among texts, one hit for each caption: the nearest
};

struct FoundItem {
  Item item;  // without codes and vectors
  float distance = 0;
};

struct SearchReply {
  std::vector<FoundItem> items;
  std::string among;
  bool more = false;     // whether a next page has anything
  int64_t searched = 0;  // items that the filter let through
  double coding_seconds = 0, search_seconds = 0;
  int generation = 0;
  std::string index;    // how it was searched: "flat", "mih", "auto", "cosine"
  std::string measure;  // what distances are: "bits" that differ, or 1 - "cosine"
};

// One generation of a collection, open for searching.  Safe to use from many
// threads.
class Site {
 public:
  Site(std::string name, int generation, std::unique_ptr<Store> store,
       std::unique_ptr<QueryCoder> coder, std::vector<std::filesystem::path> sources);

  // Items like another are found by its code of the other kind where it has
  // one: among pictures by its words.  With `rerank` the nearest 1,000 are put in a
  // new order, the next 1,000 behind them in theirs, and so on.
  // Throws BadQuestion: no question or two, words nobody knows, an unknown
  // column or item, a code of another length than the collection's, nothing
  // stored to re-rank by or features of the other kind.
  SearchReply Search(const SearchRequest& request) const;
  // The file of an item's picture, or empty: named by its facts, and inside one
  // of the sources whatever those say; links that lead out are not followed.
  std::filesystem::path PictureOf(const Item& item) const;

  const std::string& name() const { return name_; }
  int generation() const { return generation_; }
  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  const QueryCoder& coder() const { return *coder_; }

 private:
  std::string name_;
  int generation_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<QueryCoder> coder_;
  std::vector<std::filesystem::path> sources_;
};

// Opens the current generation of a collection; handed in by the CLI, which
// knows models.
using OpenSite = std::function<std::shared_ptr<Site>()>;

}  // namespace crossilo

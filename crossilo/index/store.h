#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crossilo/base/error.h"
#include "crossilo/index/hits.h"
#include "crossilo/index/index.h"

namespace crossilo {

// What all items of a store have in common.
struct Schema {
  std::vector<std::string> columns;  // what can be searched: "image", "text"
  int bits = 0;                      // of a code; 0: real-valued
  int dims = 0;                      // of a real-valued row; 0: bits
  // What hits may be re-ordered by: "" nothing, "relaxed" the relaxed codes,
  // "features" the features they were made of; vector_dims is a column each.
  std::string vectors;
  std::vector<int> vector_dims;
  std::string model;   // SHA-256 of the bundle that made the codes; may be ""
  std::string choice;  // why it is indexed as it is; for people

  bool operator==(const Schema&) const = default;
};

struct Item {
  int64_t id = 0;                    // not negative
  std::string silo;                  // who holds it
  std::vector<std::string> classes;  // for filters
  std::string facts;                 // what a person sees; bytes to us, JSON to `serve`
  // By column: one row (see Table), or empty where it has none.
  std::vector<std::vector<std::byte>> codes;
  std::vector<std::vector<float>> vectors;  // by column: vector_dims values, or empty

  bool operator==(const Item&) const = default;
};

// Any of the silos and any of the classes; an empty list allows all.
struct Filter {
  std::vector<std::string> silos, classes;

  bool empty() const { return silos.empty() && classes.empty(); }
};

// The file that a store was opened from is another one now, or none: the store
// must not be used any more, and may be opened anew.
struct StaleStore : Error {
  using Error::Error;
};

struct StoreOptions {
  std::string index = "auto";  // "auto", "flat" or "mih"
  int threads = 0;             // 0: one a core
};

// Items on disk, searched where they lie: a mapped file that never changes, and
// beside it a log of what came and went since (docs/FORMATS.md).  Many may
// read while one writes; a killed writer loses nothing that Commit confirmed.
class Store {
 public:
  // Writes the file whole or not at all; item(i) is called once for each i from
  // 0 to count - 1, in that order, so that millions need not be held as Items;
  // their ids may come in any order.  Throws Error on an id that comes twice or
  // is negative, a row of another length, a file that is there already.
  static void Create(const std::filesystem::path& path, const Schema& schema, int64_t count,
                     const std::function<Item(int64_t)>& item, const StoreOptions& options = {});

  // For reading.  Takes a millisecond whatever the size, and 2 to 4 us for each
  // change in the log, of which there are a million at most where the disk has room
  // to merge them: bounds are checked, the bytes of the sections only by Verify.  Throws Error,
  // with the reason, on a file that is not whole.
  static std::unique_ptr<Store> Open(const std::filesystem::path& path,
                                     const StoreOptions& options = {});
  // For reading and writing.  Throws Error where another writer has it.
  static std::unique_ptr<Store> OpenForWriting(const std::filesystem::path& path,
                                               const StoreOptions& options = {});
  virtual ~Store() = default;

  // For this object's lifetime; its `choice` is of now, and others come with
  // Refresh, Commit and Compact.
  virtual const Schema& schema() const = 0;
  virtual int64_t size() const = 0;    // live items
  virtual int64_t logged() const = 0;  // changes since the file was written
  // How a column is searched: "flat", "mih", "auto", "cosine".
  virtual std::string index_kind(int column) const = 0;

  // Safe to call from many threads, also while Refresh or a change runs; each
  // call sees the items as they are at one moment.
  //
  // For each query (rows of the column, one after another) its hits, nearest
  // first, equally near ones by id.
  // policy.only must be null: the filter is by name.
  virtual std::vector<std::vector<Hit>> Search(int column, std::span<const std::byte> queries,
                                               const Policy& policy,
                                               const Filter& filter = {}) const = 0;
  virtual std::optional<Item> Find(int64_t id) const = 0;
  // Items that a filter lets through and that have a code in the column.
  virtual int64_t Count(int column, const Filter& filter) const = 0;
  // Names with how many items have them, by name.
  virtual std::vector<std::pair<std::string, int64_t>> Silos() const = 0;
  virtual std::vector<std::pair<std::string, int64_t>> Classes() const = 0;
  // Every live item, ascending by id, until it returns false.  `visit` may change
  // the store; it goes on seeing the items as they were.
  virtual void ForEach(const std::function<bool(const Item&)>& visit) const = 0;

  // Takes in what a writer has committed since; true where that was anything.
  // Throws StaleStore, or another Error where it cannot be read; what was there
  // before can then be searched on.
  virtual bool Refresh() = 0;

  // Writers only; others throw.  A change is seen at once by this object, and by
  // others, and after a crash, once Commit has returned.  Commit merges a long
  // log into the file by itself; Compact commits first.  A change takes some
  // microseconds, but the first one after a search that takes an item out of the
  // file copies a bit for each item there: 10 ms for 100 million.
  virtual void Put(const Item& item) = 0;  // adds, or replaces the item of that id
  virtual bool Remove(int64_t id) = 0;     // false where there is none
  virtual void Commit() = 0;
  // Rewrites the file with everything the log says, and empties the log.
  virtual void Compact() = 0;

  // Reads every byte and compares the checksums.  Throws Error at the first
  // section that is damaged.
  virtual void Verify() const = 0;
};

}  // namespace crossilo

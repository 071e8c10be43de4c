#pragma once

// A collection for tests that is small enough to work its answers out by hand.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "crossilo/serve/searcher.h"

namespace crossilo {

inline std::vector<std::byte> Code16(unsigned code) {
  return {static_cast<std::byte>(code & 255), static_cast<std::byte>(code >> 8)};
}

// Items in memory, searched by looking at each.
class MemoryStore : public Store {
 public:
  MemoryStore(Schema schema, std::vector<Item> items) : schema_(std::move(schema)) {
    for (Item& item : items) items_[item.id] = std::move(item);
  }

  const Schema& schema() const override { return schema_; }
  int64_t size() const override { return std::ssize(items_); }
  int64_t logged() const override { return 0; }
  std::string index_kind(int) const override { return "flat"; }

  std::vector<std::vector<Hit>> Search(int column, std::span<const std::byte> query,
                                       const Policy& policy, const Filter& filter) const override {
    const std::lock_guard lock(mutex_);
    ++searches_;
    if (fails_) throw Error("/inside/items.cxi: section 3 is damaged");
    std::vector<Hit> hits;
    for (const auto& [id, item] : items_) {
      if (!Passes(item, column, filter)) continue;
      int distance = 0;
      for (size_t i = 0; i < query.size(); ++i) {
        distance += std::popcount(std::to_integer<unsigned>(item.codes[column][i] ^ query[i]));
      }
      if (static_cast<float>(distance) <= policy.radius) {
        hits.push_back({id, static_cast<float>(distance)});
      }
    }
    std::ranges::sort(hits, [](const Hit& a, const Hit& b) { return Nearer(a, b); });
    if (std::ssize(hits) > policy.k) hits.resize(policy.k);
    return {hits};
  }
  std::optional<Item> Find(int64_t id) const override {
    const std::lock_guard lock(mutex_);
    const auto found = items_.find(id);
    return found == items_.end() ? std::nullopt : std::optional(found->second);
  }
  int64_t Count(int column, const Filter& filter) const override {
    const std::lock_guard lock(mutex_);
    return std::ranges::count_if(
        items_, [&](const auto& entry) { return Passes(entry.second, column, filter); });
  }
  std::vector<std::pair<std::string, int64_t>> Silos() const override {
    std::map<std::string, int64_t> counts;
    for (const auto& [id, item] : items_) ++counts[item.silo];
    return {counts.begin(), counts.end()};
  }
  std::vector<std::pair<std::string, int64_t>> Classes() const override {
    std::map<std::string, int64_t> counts;
    for (const auto& [id, item] : items_) {
      for (const auto& name : item.classes) ++counts[name];
    }
    return {counts.begin(), counts.end()};
  }
  void ForEach(const std::function<bool(const Item&)>& visit) const override {
    for (const auto& [id, item] : items_) {
      if (!visit(item)) return;
    }
  }
  bool Refresh() override {
    const std::lock_guard lock(mutex_);
    if (!on_refresh_) return false;
    on_refresh_(items_);
    return true;
  }
  void Put(const Item& item) override { items_[item.id] = item; }
  bool Remove(int64_t id) override { return items_.erase(id) > 0; }
  void Commit() override {}
  void Compact() override {}
  void Verify() const override {}

  int searches() const { return searches_; }
  void Damage() { fails_ = true; }
  void OnRefresh(std::function<void(std::map<int64_t, Item>&)> change) {
    on_refresh_ = std::move(change);
  }

 private:
  static bool Passes(const Item& item, int column, const Filter& filter) {
    const auto has = [](const auto& list, const std::string& name) {
      return std::ranges::find(list, name) != list.end();
    };
    if (item.codes[column].empty()) return false;
    if (!filter.silos.empty() && !has(filter.silos, item.silo)) return false;
    return filter.classes.empty() || std::ranges::any_of(item.classes, [&](const auto& name) {
             return has(filter.classes, name);
           });
  }

  Schema schema_;
  std::map<int64_t, Item> items_;
  mutable std::mutex mutex_;
  mutable int searches_ = 0;
  bool fails_ = false;
  std::function<void(std::map<int64_t, Item>&)> on_refresh_;
};

inline constexpr std::string_view kPngMagic("\x89PNG\r\n\x1A\n", 8);

// Words are a code in hex: "00ff".  A picture's code is its two last bytes.
class HexCoder : public QueryCoder {
 public:
  CodedQuery Words(const std::string& words) const override {
    if (words == "inside") throw std::runtime_error("/inside/model is broken");
    if (words == "wide") return {.code = std::vector<std::byte>(8)};
    unsigned code = 0;
    const char* end = words.data() + words.size();
    if (std::from_chars(words.data(), end, code, 16).ptr != end || code > 0xffff) {
      throw Error("none of these words is known; try others");
    }
    return {.code = Code16(code), .relaxed = {0, 1}, .features = {1, 0}};
  }
  CodedQuery Picture(const std::string& bytes) const override {
    if (bytes.size() < 10) throw Error("this picture has no content");
    const auto at = [&](size_t back) { return static_cast<unsigned char>(bytes.end()[-back]); };
    return {.code = Code16(at(2) + 256u * at(1)), .relaxed = {0, 1}, .features = {1, 0}};
  }
  bool knows_words() const override { return knows_words_; }
  bool knows_pictures() const override { return knows_pictures_; }

  bool knows_words_ = true, knows_pictures_ = true;
};

inline std::string PictureOfCode(unsigned code) {
  return std::string(kPngMagic) + static_cast<char>(code & 255) + static_cast<char>(code >> 8);
}

// Five items: distances of image codes to 0000 are 0, 1, 3, 8, none; of text
// codes 1, 1, 4, none, 0.
inline std::vector<Item> FiveItems() {
  const auto none = std::vector<std::byte>();
  return {{.id = 10,
           .silo = "north",
           .classes = {"cats"},
           .facts = R"({"name":"n/10","caption":"a cat","picture":"cat.png","house":"n"})",
           .codes = {Code16(0x0000), Code16(0x0001)},
           .vectors = {{1, 0}, {1, 0}}},
          {.id = 11,
           .silo = "north",
           .classes = {"cats", "smiles"},
           .facts = R"({"name":"n/11","caption":"a cat","picture":"../secret.png","source":0})",
           .codes = {Code16(0x0001), Code16(0x0001)},
           .vectors = {{0, 1}, {0, 1}}},
          {.id = 12,
           .silo = "south",
           .classes = {"dogs"},
           .facts = R"({"name":"s/12","caption":"a dog","picture":"note.txt"})",
           .codes = {Code16(0x0007), Code16(0x000f)},
           .vectors = {{1, 1}, {1, 1}}},
          {.id = 13,
           .silo = "south",
           .facts = R"({"name":"s/13"})",
           .codes = {Code16(0x00ff), none},
           .vectors = {{-1, 0}, {}}},
          {.id = int64_t{1} << 62,
           .silo = "west",
           .classes = {"birds"},
           .facts = "not JSON \xff",
           .codes = {none, Code16(0x0000)},
           .vectors = {{}, {0, -1}}}};
}

inline Schema SchemaOf(std::string vectors = "relaxed") {
  return {.columns = {"image", "text"},
          .bits = 16,
          .vectors = std::move(vectors),
          .vector_dims = {2, 2}};
}

inline std::shared_ptr<Site> SiteOf(std::vector<Item> items, int generation = 1,
                                    std::vector<std::filesystem::path> sources = {},
                                    Schema schema = SchemaOf()) {
  return std::make_shared<Site>("five", generation,
                                std::make_unique<MemoryStore>(schema, std::move(items)),
                                std::make_unique<HexCoder>(), std::move(sources));
}

// A folder that is gone at the end, of this process and test alone.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("crossilo_{}_{}", name, getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The same in a store on disk.
inline std::shared_ptr<Site> SiteOnDisk(const TestFolder& folder, const std::vector<Item>& items,
                                        const Schema& schema = SchemaOf()) {
  const auto path = folder / "items.cxi";
  Store::Create(path, schema, std::ssize(items), [&](int64_t i) { return items[i]; });
  return std::make_shared<Site>("five", 1, Store::Open(path), std::make_unique<HexCoder>(),
                                std::vector{folder.path()});
}

}  // namespace crossilo

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/index/item_bytes.h"
#include "crossilo/index/store.h"

// Items and folders for the store's tests.

namespace crossilo {

// A folder of this process and test, empty; gone when the process ends.
inline std::filesystem::path FreshFolder(const std::string& name) {
  struct Folders {
    // In memory where there is such a place: kills and damage are the same there.
    std::filesystem::path root =
        std::filesystem::path(std::filesystem::exists("/dev/shm") ? "/dev/shm"
                                                                  : testing::TempDir()) /
        ("crossilo_index_" + std::to_string(::getpid()));
    ~Folders() {
      std::error_code failed;
      std::filesystem::remove_all(root, failed);
    }
  };
  static const Folders folders;
  const auto path = folders.root / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

// Without the sync, which thousands of small files have no need of.  A new file,
// because some file systems sync one that is cut to nothing and written again.
inline void Overwrite(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

using Items = std::map<int64_t, Item>;

inline Schema TwoColumns(int bits, int dims = 0) {
  return {.columns = {"image", "text"},
          .bits = bits,
          .dims = dims,
          .vectors = "relaxed",
          .vector_dims = {3, 2},
          .model = "0123abcd"};
}

// A row of few different ones, so that most distances are tied.
inline std::vector<std::byte> RandomRow(const Schema& schema, Random& random) {
  std::vector<std::byte> row(RowBytes(schema));
  if (schema.dims > 0) {
    std::vector<float> values(schema.dims);
    for (float& value : values) value = static_cast<float>(random.Below(3)) - 1;
    std::memcpy(row.data(), values.data(), row.size());
  } else {
    for (int flips = 0; flips < 3; ++flips) {
      const uint64_t bit = random.Below(std::min(schema.bits, 16));
      row[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    }
    row[schema.bits / 8 - 1] ^= static_cast<std::byte>(random.Below(4));
  }
  return row;
}

inline Item RandomItem(const Schema& schema, int64_t id, Random& random) {
  Item item{.id = id, .silo = std::string("abc").substr(random.Below(4), 1)};
  for (const char* name : {"cat", "dog", "bird"}) {
    if (random.Below(3) == 0) item.classes.push_back(name);
  }
  item.facts = std::string(random.Below(20), static_cast<char>(random.Below(256)));
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    item.codes.emplace_back();
    if (random.Below(5) != 0) item.codes.back() = RandomRow(schema, random);
    if (schema.vector_dims.empty()) continue;
    item.vectors.emplace_back();
    // Whole quarters, which float16 has exactly.
    for (int i = 0; random.Below(4) != 0 && i < 1; ++i) {
      for (int d = 0; d < schema.vector_dims[c]; ++d) {
        item.vectors.back().push_back(static_cast<float>(random.Below(100)) / 4);
      }
    }
  }
  return item;
}

inline void CreateStore(const std::filesystem::path& path, const Schema& schema, const Items& items,
                        const StoreOptions& options = {}) {
  auto next = items.begin();
  Store::Create(
      path, schema, static_cast<int64_t>(items.size()), [&](int64_t) { return (next++)->second; },
      options);
}

inline Items RandomItems(const Schema& schema, int count, Random& random) {
  Items items;
  while (static_cast<int>(items.size()) < count) {
    const auto id = static_cast<int64_t>(random.Below(60));
    items.emplace(id, RandomItem(schema, id, random));
  }
  return items;
}

inline std::vector<std::byte> Code16(int code) {
  return {static_cast<std::byte>(code & 255), static_cast<std::byte>(code >> 8)};
}

// One column of 16 bits, three items:
//   id 5   code 0000000000000011   silo north   cat
//   id 7   none                    silo north   cat
//   id 9   code 0000000100000000   silo south   -
inline Schema OneColumn() { return {.columns = {"image"}, .bits = 16, .model = "m"}; }
inline Items ThreeItems() {
  return {
      {5, {.id = 5, .silo = "north", .classes = {"cat"}, .facts = "five", .codes = {Code16(3)}}},
      {7, {.id = 7, .silo = "north", .classes = {"cat"}, .facts = "", .codes = {{}}}},
      {9, {.id = 9, .silo = "south", .facts = "nine!", .codes = {Code16(256)}}}};
}

// What an Error says.
inline std::string WhyNot(const std::function<void()>& act) {
  try {
    act();
    return "it worked";
  } catch (const Error& error) {
    return error.what();
  }
}

// The number at an offset of a file.
template <typename T>
T At(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace crossilo

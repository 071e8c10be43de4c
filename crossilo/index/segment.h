#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crossilo/base/file.h"
#include "crossilo/index/bitmap.h"
#include "crossilo/index/file_format.h"
#include "crossilo/index/index.h"
#include "crossilo/index/item_bytes.h"
#include "crossilo/index/recent_cache.h"
#include "crossilo/index/segment_writer.h"

namespace crossilo {

// Items that never change, in slots that ascend by id: a mapped `.cxi` file, or
// the same bytes in memory.  Opening looks at the header only, so whatever the
// sections say is checked where it is used: damaged content is an Error or a
// wrong answer, never a crash.  Safe to use from many threads.
class Segment {
 public:
  // Throws Error where the header or a section's size is wrong.  `index` is as
  // in StoreOptions.
  Segment(const std::filesystem::path& path, const std::string& index);
  explicit Segment(Image image);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  const FileHeader& header() const { return header_; }
  const Schema& schema() const { return header_.schema; }
  int64_t size() const { return header_.count; }

  int64_t IdAt(uint32_t slot) const;
  std::optional<uint32_t> SlotOf(int64_t id) const;
  // Throws Error where its tags or facts are damaged.
  Item ItemAt(uint32_t slot) const;

  // How a column is searched.  Made when first asked for.
  const Index& index(int column) const;
  // Slots that have a code in the column; null: all.
  std::shared_ptr<const Bitmap> HasCode(int column) const;
  // Slots that a filter lets through.
  std::shared_ptr<const Bitmap> Allowed(const Filter& filter) const;
  // How many of the slots have each tag set; `live` null: all slots.
  std::vector<int64_t> CountTags(const Bitmap* live) const;
  Tags TagSet(size_t number) const;

  // Throws Error at the first section that is not as it was written.
  void Verify() const;

 private:
  struct Column {
    std::span<const std::byte> codes, has_code, vectors, has_vector, mih;
    std::once_flag indexed, counted;
    std::unique_ptr<Index> index;
    std::shared_ptr<const Bitmap> present;
  };

  // Where the id table does not say.
  std::optional<uint32_t> SlotByHalving(int64_t id) const;
  void Open();
  void OpenColumn(uint32_t number);
  // The section's bytes; empty where there is none.  Throws Error unless it has
  // `size` bytes.
  std::span<const std::byte> Take(std::string_view name, uint32_t column,
                                  std::optional<uint64_t> size, bool required) const;
  std::unique_ptr<Index> MakeIndex(const Column& column) const;
  std::string_view TextAt(std::span<const std::byte> ends, std::span<const std::byte> texts,
                          size_t i) const;

  std::optional<MappedFile> file_;
  Image image_;
  std::span<const std::byte> bytes_;
  std::string where_;
  std::string index_;
  FileHeader header_;
  std::span<const std::byte> ids_, id_table_, tags_, tag_ends_, tag_sets_, fact_ends_, facts_;
  std::vector<std::unique_ptr<Column>> columns_;
  mutable RecentCache<Bitmap> allowed_;
};

}  // namespace crossilo

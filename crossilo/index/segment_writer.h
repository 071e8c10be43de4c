#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "crossilo/base/file.h"
#include "crossilo/index/bitmap.h"
#include "crossilo/index/file_format.h"
#include "crossilo/index/spool.h"
#include "crossilo/index/store.h"

namespace crossilo {

// A file's bytes in memory, aligned as sections are.
struct Image {
  struct alignas(kSectionAlignment) Block {
    std::byte bytes[kSectionAlignment] = {};
  };
  std::vector<Block> blocks;
  size_t size = 0;

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(blocks)).first(size); }
};

// Makes the sections of a `.cxi` file out of items, in whatever order they
// come; equal items give equal bytes.
class SegmentWriter {
 public:
  // Holds little in memory where `spool_folder` is not empty.
  SegmentWriter(const Schema& schema, std::filesystem::path spool_folder);

  // Throws Error where the item does not fit the schema.
  void Add(const Item& item);

  // What the file will be, with the tables that `index` ("auto", "flat", "mih")
  // asks for.  Nothing can be added afterwards.  Throws Error where an id came
  // twice.
  FileHeader Finish(const std::string& index, uint64_t serial, int threads);
  // The file of that header.
  void Write(FileHeader header, const Put& put) const;

  // The same in memory, with neither tables nor checksums.
  Image ToImage();

 private:
  struct Column {
    Spool codes, vectors;
    Bitmap has_code, has_vector;
    std::string mih;
  };

  void AddColumn(Column& column, const std::vector<std::byte>& code,
                 const std::vector<float>& vector, int vector_dims);
  uint32_t TagNumber(const Item& item);
  // Item number i as it was added.
  Item Added(int64_t i);
  void Sort();
  // Tables where they are asked for; says why in schema_.choice.
  void BuildTables(const std::string& index, int threads);
  void BuildIdTable();
  FileHeader Declare(const std::string& index, uint64_t serial);
  void DeclareColumn(FileHeader& header, uint32_t column);
  void DeclareSection(FileHeader& header, const char* name, uint32_t column,
                      std::span<const std::byte> bytes);

  Schema schema_;
  std::filesystem::path folder_;
  int64_t count_ = 0, last_id_ = -1;
  bool ascending_ = true;
  Spool ids_, tags_, fact_ends_, facts_;
  std::vector<uint32_t> id_table_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, uint32_t> tag_numbers_;
  Spool tag_ends_, tag_sets_;
  std::vector<std::span<const std::byte>> contents_;  // of the header's sections
};

}  // namespace crossilo

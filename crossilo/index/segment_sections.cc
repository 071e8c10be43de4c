#include <algorithm>
#include <cstring>

#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/segment_writer.h"

// The second half of SegmentWriter: from collected items to a file.

namespace crossilo {

void SegmentWriter::BuildTables(const std::string& index, int threads) {
  if (schema_.dims > 0) {
    schema_.choice = "cosine: real-valued rows are compared one by one";
    return;
  }
  schema_.choice = index == "auto" ? "" : index + ": as asked for";
  for (size_t c = 0; c < columns_.size(); ++c) {
    const Table table{
        .rows = columns_[c].codes.bytes().data(), .size = count_, .bits = schema_.bits};
    bool build = index == "mih";
    if (index == "auto") {
      const IndexChoice choice = ChooseIndex(table);
      build = choice.mih;
      schema_.choice += (c == 0 ? "" : "; ") + schema_.columns[c] + ": " + choice.reason;
    }
    if (build && count_ > 0) columns_[c].mih = BuildMih(table, threads);
  }
}

void SegmentWriter::BuildIdTable() {
  id_table_.assign(IdTableSize(count_), ~uint32_t{0});
  for (int64_t slot = 0; slot < count_; ++slot) {
    uint64_t at = IdTableStart(NumberAt<int64_t>(ids_.bytes(), slot), id_table_.size());
    int tries = 0;
    while (id_table_[at] != ~uint32_t{0} && ++tries < kMostIdTableTries) {
      at = at + 1 < id_table_.size() ? at + 1 : 0;
    }
    if (tries < kMostIdTableTries) id_table_[at] = static_cast<uint32_t>(slot);
  }
}

void SegmentWriter::DeclareSection(FileHeader& header, const char* name, uint32_t column,
                                   std::span<const std::byte> bytes) {
  header.sections.push_back({.name = name, .column = column, .length = bytes.size()});
  contents_.push_back(bytes);
}

void SegmentWriter::DeclareColumn(FileHeader& header, uint32_t c) {
  Column& column = columns_[c];
  const auto declare = [&](const char* name, std::span<const std::byte> bytes) {
    DeclareSection(header, name, c, bytes);
  };
  declare("codes", column.codes.bytes());
  if (column.has_code.Count() < count_) declare("hascode", std::as_bytes(column.has_code.words()));
  if (!column.mih.empty()) declare("mih", std::as_bytes(std::span(column.mih)));
  if (column.has_vector.Count() == 0) return;
  declare("vectors", column.vectors.bytes());
  if (column.has_vector.Count() < count_)
    declare("hasvec", std::as_bytes(column.has_vector.words()));
}

FileHeader SegmentWriter::Declare(const std::string& index, uint64_t serial) {
  FileHeader header{.serial = serial, .count = count_, .schema = schema_, .index = index};
  // Ascending, not negative and different: the last one says whether any is left out.
  if (count_ > 0 && last_id_ != count_ - 1) {
    BuildIdTable();
    DeclareSection(header, "ids", 0, ids_.bytes());
    DeclareSection(header, "idtable", 0, std::as_bytes(std::span(id_table_)));
  }
  for (uint32_t c = 0; c < columns_.size(); ++c) DeclareColumn(header, c);
  DeclareSection(header, "tags", 0, tags_.bytes());
  DeclareSection(header, "tagends", 0, tag_ends_.bytes());
  DeclareSection(header, "tagsets", 0, tag_sets_.bytes());
  DeclareSection(header, "factends", 0, fact_ends_.bytes());
  DeclareSection(header, "facts", 0, facts_.bytes());
  return header;
}

FileHeader SegmentWriter::Finish(const std::string& index, uint64_t serial, int threads) {
  if (!ascending_) Sort();
  BuildTables(index, threads);
  FileHeader header = Declare(index, serial);
  for (size_t s = 0; s < contents_.size(); ++s) {
    header.sections[s].checksum = Checksum(AsText(contents_[s]));
  }
  LayOut(header, kCodesAlignment);
  return header;
}

void SegmentWriter::Write(FileHeader header, const Put& put) const {
  const std::string start = EncodeHeader(header);
  put(start);
  uint64_t at = start.size();
  for (size_t s = 0; s < contents_.size(); ++s) {
    put(std::string(header.sections[s].offset - at, '\0'));
    put(AsText(contents_[s]));
    at = header.sections[s].offset + header.sections[s].length;
  }
}

Image SegmentWriter::ToImage() {
  if (!ascending_) Sort();
  FileHeader header = Declare("flat", 0);
  LayOut(header, kSectionAlignment);
  Image image{.size = header.file_bytes};
  image.blocks.resize((image.size + kSectionAlignment - 1) / kSectionAlignment);
  auto* to = reinterpret_cast<std::byte*>(image.blocks.data());
  Write(header, [&](std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
  });
  return image;
}

}  // namespace crossilo

#include "crossilo/index/file_format.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/item_bytes.h"

namespace crossilo {
namespace {

// As PNG has it: the first byte shows a transfer that lost the eighth bit, the
// line ends one that changed them.
constexpr std::string_view kMagic =
    "\x89"
    "CXI\r\n\x1a\n";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kMostHeader = 16u << 20;
constexpr std::string_view kIndexes[] = {"auto", "flat", "mih"};

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void WriteSchema(ByteWriter& out, const FileHeader& header) {
  const Schema& schema = header.schema;
  out.U32(static_cast<uint32_t>(schema.bits));
  out.U32(static_cast<uint32_t>(schema.dims));
  out.U32(static_cast<uint32_t>(std::ranges::find(kIndexes, header.index) - kIndexes));
  out.U32(static_cast<uint32_t>(schema.columns.size()));
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    out.Text(schema.columns[c]);
    out.U32(schema.vector_dims.empty() ? 0 : static_cast<uint32_t>(schema.vector_dims[c]));
  }
  out.Text(schema.vectors);
  out.Text(schema.model);
  out.Text(schema.choice);
}

void ReadSchema(ByteReader& in, FileHeader& header) {
  Schema& schema = header.schema;
  schema.bits = static_cast<int>(in.U32());
  schema.dims = static_cast<int>(in.U32());
  const uint32_t index = in.U32();
  if (index >= std::size(kIndexes)) throw Error("index type {} is unknown", index);
  header.index = kIndexes[index];
  for (uint32_t left = in.U32(); left > 0; --left) {
    schema.columns.emplace_back(in.Text());
    schema.vector_dims.push_back(static_cast<int>(in.U32()));
  }
  schema.vectors = in.Text();
  schema.model = in.Text();
  schema.choice = in.Text();
  if (schema.vectors.empty()) schema.vector_dims.clear();
  CheckSchema(schema);
}

void ReadSections(ByteReader& in, FileHeader& header, uint64_t header_bytes) {
  uint64_t end = header_bytes;
  std::set<std::pair<std::string, uint32_t>> seen;
  for (uint32_t left = in.U32(); left > 0; --left) {
    const std::string_view name = in.Raw(8);
    Section section{.name = std::string(name.substr(0, name.find('\0')))};
    section.column = in.U32();
    in.U32();
    section.offset = in.U64();
    section.length = in.U64();
    section.checksum = in.U64();
    if (section.offset < end || section.offset % kSectionAlignment != 0 ||
        section.offset > header.file_bytes || section.length > header.file_bytes - section.offset) {
      throw Error("section '{}' lies at {} with {} bytes, which is not inside the file",
                  section.name, section.offset, section.length);
    }
    if (!seen.emplace(section.name, section.column).second) {
      throw Error("section '{}' is there twice", section.name);
    }
    end = section.offset + section.length;
    header.sections.push_back(std::move(section));
  }
  if (end != header.file_bytes) throw Error("it goes on behind its last section");
}

// The fixed part; returns how long the header is.
uint32_t ReadPrologue(ByteReader& in, FileHeader& header) {
  if (in.Raw(8) != kMagic)
    throw Error("not a Crossilo index; make one with 'crossilo index build'");
  header.identity = in.U64();
  const uint32_t version = in.U32(), header_bytes = in.U32();
  if (version != kVersion) {
    throw Error("version {} of the format, this program reads version {}", version, kVersion);
  }
  header.serial = in.U64();
  const uint64_t count = in.U64();
  if (count > static_cast<uint64_t>(kMostItems)) throw Error("{} items are too many", count);
  header.count = static_cast<int64_t>(count);
  header.file_bytes = in.U64();
  return header_bytes;
}

}  // namespace

const Section* FileHeader::Find(std::string_view name, uint32_t column) const {
  for (const Section& section : sections) {
    if (section.name == name && section.column == column) return &section;
  }
  return nullptr;
}

void LayOut(FileHeader& header, uint64_t codes_alignment) {
  uint64_t end = EncodeHeader(header).size();
  for (Section& section : header.sections) {
    section.offset = RoundUp(end, section.name == "codes" ? codes_alignment : kSectionAlignment);
    end = section.offset + section.length;
  }
  header.file_bytes = end;
}

std::string EncodeHeader(FileHeader& header) {
  ByteWriter out;
  out.Raw(kMagic);
  out.U64(0);
  out.U32(kVersion);
  out.U32(0);
  out.U64(header.serial);
  out.U64(static_cast<uint64_t>(header.count));
  out.U64(header.file_bytes);
  WriteSchema(out, header);
  out.U32(static_cast<uint32_t>(header.sections.size()));
  for (const Section& section : header.sections) {
    out.Raw((section.name + std::string(8, '\0')).substr(0, 8));
    out.U32(section.column);
    out.U32(0);
    out.U64(section.offset);
    out.U64(section.length);
    out.U64(section.checksum);
  }
  std::string bytes = std::move(out.bytes());
  const auto size = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data() + 20, &size, sizeof size);
  header.identity = Checksum(std::string_view(bytes).substr(16));
  std::memcpy(bytes.data() + 8, &header.identity, sizeof header.identity);
  return bytes;
}

FileHeader ParseHeader(std::span<const std::byte> file, const std::string& where) {
  try {
    FileHeader header;
    ByteReader prologue(AsText(file), "the header");
    const uint32_t header_bytes = ReadPrologue(prologue, header);
    if (header_bytes < kPrologueBytes || header_bytes > std::min(file.size(), kMostHeader)) {
      throw Error("a header of {} bytes", header_bytes);
    }
    const std::string_view bytes = AsText(file.first(header_bytes));
    if (Checksum(bytes.substr(16)) != header.identity) throw Error("the header is damaged");
    if (header.file_bytes != file.size()) {
      throw Error(
          "{} bytes of {}; it was not copied whole: copy it to another name, then mv it here",
          file.size(), header.file_bytes);
    }
    ByteReader in(bytes.substr(kPrologueBytes), "the header");
    ReadSchema(in, header);
    ReadSections(in, header, header_bytes);
    in.Finish();
    return header;
  } catch (const Error& error) {
    throw Error("{}: {}", where, error.what());
  }
}

uint64_t IdentityOf(const std::filesystem::path& path) {
  std::string start(kPrologueBytes, '\0');
  const int descriptor = OpenPlainFile(path);
  const ssize_t got = descriptor < 0 ? -1 : ::read(descriptor, start.data(), start.size());
  if (descriptor >= 0) ::close(descriptor);
  if (got != std::ssize(start) || !start.starts_with(kMagic))
    throw StaleStore("{}: is no longer an index", path.string());
  return NumberAt<uint64_t>(std::as_bytes(std::span(start)), 1);
}

uint64_t IdTableSize(int64_t count) { return static_cast<uint64_t>(count) * 3 / 2 + 1; }

uint64_t IdTableStart(int64_t id, uint64_t size) {
  // SplitMix64's finaliser: ids that follow each other land far apart.
  auto hash = static_cast<uint64_t>(id);
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EB;
  hash ^= hash >> 31;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(hash) * size >> 64);
}

}  // namespace crossilo

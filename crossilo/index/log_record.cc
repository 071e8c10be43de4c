#include "crossilo/index/log_record.h"

#include "crossilo/index/bytes.h"
#include "crossilo/index/checksum.h"

namespace crossilo {
namespace {

constexpr std::string_view kMagic =
    "\x89"
    "CXL\r\n\x1a\n";
constexpr uint32_t kVersion = 1;

}  // namespace

std::string EncodeLogHeader(const LogBase& base) {
  ByteWriter out;
  out.Raw(kMagic);
  out.U32(kVersion);
  out.U32(0);
  out.U64(base.serial);
  out.U64(base.identity);
  out.U64(Checksum(out.bytes()));
  return std::move(out.bytes());
}

LogBase DecodeLogHeader(std::string_view bytes, const std::string& where) {
  if (!bytes.starts_with(kMagic)) {
    throw Error(
        "{}: not a log of an index; if nothing was changed since the index was built, "
        "remove it",
        where);
  }
  ByteReader in(bytes.substr(kMagic.size()), where);
  const uint32_t version = in.U32();
  if (version != kVersion) {
    throw Error("{}: version {} of the format, this program reads version {}", where, version,
                kVersion);
  }
  in.U32();
  LogBase base;
  base.serial = in.U64();
  base.identity = in.U64();
  if (bytes != EncodeLogHeader(base)) {
    throw Error("{}: its header is damaged; restore it from a copy", where);
  }
  return base;
}

std::string EncodeRecord(LogKind kind, std::string_view payload, uint64_t chain) {
  ByteWriter out;
  out.U64(0);
  out.U32(static_cast<uint32_t>(kind));
  out.Text(payload);
  out.PadTo(8);
  std::string record = std::move(out.bytes());
  const uint64_t checksum = Checksum(std::string_view(record).substr(8), chain);
  std::memcpy(record.data(), &checksum, sizeof checksum);
  return record;
}

std::string CommitPayload(const LogBase& base, uint64_t offset, uint64_t number) {
  ByteWriter proof, out;
  proof.U64(number);
  proof.U64(offset);
  out.U64(number);
  out.U64(Checksum(proof.bytes(), base.identity));
  return std::move(out.bytes());
}

uint64_t CommitNumber(std::string_view record, const LogBase& base, uint64_t offset) {
  if (record.size() < RecordBytes(kCommitPayload)) return 0;
  ByteReader in(record.substr(8), "a commit");
  if (in.U32() != static_cast<uint32_t>(LogKind::kCommit) || in.U32() != kCommitPayload) return 0;
  const std::string_view payload = in.Raw(kCommitPayload);
  const uint64_t number = ByteReader(payload, "a commit").U64();
  return payload == CommitPayload(base, offset, number) ? number : 0;
}

}  // namespace crossilo

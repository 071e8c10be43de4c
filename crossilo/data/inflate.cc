#include "crossilo/data/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

// Deflate cannot pack tighter than 1032 to 1, so more room than that is a lie.
constexpr size_t kMostPerByte = 1032;

// A zlib stream over bytes in memory, fed in pieces that fit zlib's 32 bits.
class Stream {
 public:
  Stream(std::span<const std::byte> packed, int window_bits) : packed_(packed) {
    ready_ = inflateInit2(&z_, window_bits) == Z_OK;
  }
  ~Stream() {
    if (ready_) inflateEnd(&z_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Fills `out` and returns the bytes it got; fewer only at the end or where
  // the stream is damaged.
  size_t Read(std::span<std::byte> out) {
    size_t got = 0;
    while (ready_ && !ended_ && got < out.size()) {
      if (z_.avail_in == 0) Feed();
      const auto room = static_cast<uInt>(std::min(out.size() - got, kPiece));
      z_.next_out = reinterpret_cast<Bytef*>(out.data() + got);
      z_.avail_out = room;
      const int state = inflate(&z_, Z_NO_FLUSH);
      got += room - z_.avail_out;
      ended_ = state == Z_STREAM_END;
      ready_ = state == Z_OK || ended_;  // Z_BUF_ERROR: cut short
      if (!ready_) inflateEnd(&z_);
    }
    return got;
  }

  // Whether the stream ended as it should, with no byte after it.
  bool Whole() const { return ended_ && z_.avail_in == 0 && packed_.empty(); }

 private:
  static constexpr size_t kPiece = size_t{1} << 30;

  void Feed() {
    const size_t size = std::min(packed_.size(), kPiece);
    // zlib's input is not const for historical reasons; it is not written to.
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
    z_.avail_in = static_cast<uInt>(size);
    packed_ = packed_.subspan(size);
  }

  std::span<const std::byte> packed_;
  z_stream z_{};
  bool ready_ = false;
  bool ended_ = false;
};

}  // namespace

std::optional<std::vector<std::byte>> Inflate(std::span<const std::byte> packed, size_t size) {
  if (size / kMostPerByte > packed.size()) return std::nullopt;
  std::vector<std::byte> out(size + 1);  // one more shows a stream that is longer
  Stream stream(packed, -MAX_WBITS);
  if (stream.Read(out) != size || !stream.Whole()) return std::nullopt;
  out.resize(size);
  return out;
}

std::optional<size_t> InflatedSize(std::span<const std::byte> packed) {
  Stream stream(packed, MAX_WBITS);
  std::array<std::byte, 1 << 16> buffer;
  size_t size = 0;
  for (size_t got; (got = stream.Read(buffer)) > 0;) size += got;
  if (!stream.Whole()) return std::nullopt;
  return size;
}

std::string ReadPlainOrGz(const std::filesystem::path& path) {
  std::string raw = ReadFile(path);
  if (!raw.starts_with("\x1f\x8b")) return raw;
  Stream stream(std::as_bytes(std::span(raw)), MAX_WBITS + 16);
  std::string out;
  std::array<std::byte, 1 << 16> buffer;
  for (size_t got; (got = stream.Read(buffer)) > 0;) {
    out.append(reinterpret_cast<const char*>(buffer.data()), got);
  }
  if (!stream.Whole()) {
    throw Error("{}: is a damaged .gz file; copy it again or unpack it first", path.string());
  }
  return out;
}

}  // namespace crossilo

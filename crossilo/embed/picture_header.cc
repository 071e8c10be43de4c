#include "crossilo/embed/picture_header.h"

#include <optional>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

// Bytes that say 0 past the end, so that a cut file reads as a wrong one.
struct Bytes {
  std::string_view bytes;

  int64_t At(size_t i) const { return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0; }
  int64_t Big16(size_t i) const { return At(i) << 8 | At(i + 1); }
  int64_t Big32(size_t i) const { return Big16(i) << 16 | Big16(i + 2); }
  int64_t Little16(size_t i) const { return At(i) | At(i + 1) << 8; }
  int64_t Little24(size_t i) const { return Little16(i) | At(i + 2) << 16; }
  bool Is(size_t i, std::string_view tag) const {
    return i <= bytes.size() && bytes.substr(i).starts_with(tag);
  }
};

std::optional<PictureHeader> Png(const Bytes& in) {
  if (!in.Is(0, "\x89PNG\r\n\x1a\n") || !in.Is(12, "IHDR")) return {};
  return PictureHeader{PictureFormat::kPng, in.Big32(16), in.Big32(20)};
}

// The size stands in the first start-of-frame segment (ITU T.81, B.2.2).
std::optional<PictureHeader> Jpeg(const Bytes& in) {
  if (!in.Is(0, "\xff\xd8\xff")) return {};
  for (size_t i = 2; i + 9 <= in.bytes.size() && in.At(i) == 0xff;) {
    const int64_t marker = in.At(i + 1);
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) return PictureHeader{PictureFormat::kJpeg, in.Big16(i + 7), in.Big16(i + 5)};
    const bool fill = marker == 0xff;
    i += fill ? 1 : 2 + static_cast<size_t>(in.Big16(i + 2));
  }
  return {};
}

// The three kinds of first chunk in a WebP container (RFC 9649, section 2).
std::optional<PictureHeader> Webp(const Bytes& in) {
  if (!in.Is(0, "RIFF") || !in.Is(8, "WEBP")) return {};
  const PictureFormat webp = PictureFormat::kWebp;
  if (in.Is(12, "VP8 ")) {
    return PictureHeader{webp, in.Little16(26) & 0x3fff, in.Little16(28) & 0x3fff};
  }
  if (in.Is(12, "VP8L")) {
    const int64_t bits = in.Little24(21) | in.At(24) << 24;
    return PictureHeader{webp, (bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1};
  }
  if (in.Is(12, "VP8X")) return PictureHeader{webp, in.Little24(24) + 1, in.Little24(27) + 1};
  return {};
}

}  // namespace

PictureHeader ReadPictureHeader(std::string_view bytes, const std::string& origin) {
  const Bytes in{bytes};
  std::optional<PictureHeader> header = Png(in);
  if (!header) header = Jpeg(in);
  if (!header) header = Webp(in);
  if (!header) {
    throw Error("{}: not a PNG, JPEG or WebP picture; convert it to one of them", origin);
  }
  // Both are below 2^32, so the product does not overflow once neither is huge.
  if (header->width < 1 || header->height < 1 || header->width > kMostPixels ||
      header->height > kMostPixels || header->width * header->height > kMostPixels) {
    throw Error("{}: a picture of {} x {} pixels; it must have between 1 and {} of them", origin,
                header->width, header->height, kMostPixels);
  }
  return *header;
}

}  // namespace crossilo

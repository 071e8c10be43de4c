#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crossilo {

enum class PictureFormat { kPng, kJpeg, kWebp };

struct PictureHeader {
  PictureFormat format;
  int64_t width, height;
};

constexpr int64_t kMostPixels = int64_t{64} << 20;

// What a picture file says it is, read from its first bytes before a decoder
// sees it.  Throws Error for anything but PNG, JPEG and WebP, and for a size
// of zero or above kMostPixels.  `origin` stands in errors for the file.
PictureHeader ReadPictureHeader(std::string_view bytes, const std::string& origin);

}  // namespace crossilo

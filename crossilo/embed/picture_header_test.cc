#include "crossilo/embed/picture_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using namespace std::string_literals;

// 300 x 2 in each format; the bytes are those the standards show.
const std::string kPng = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x2c\0\0\0\x02"s;
const std::string kJpeg =
    "\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc2\0\x11\x08\0\x02\x01\x2c\x03"s;  // a fill byte before SOF2
const std::string kLossy = "RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x2c\x01\x02\0"s;
const std::string kLossless = "RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x2b\x41\0\0"s;  // 299 | 1 << 14
const std::string kExtended = "RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x2b\x01\0\x01\0\0"s;

TEST(PictureHeader, ReadsTheSizeInEveryFormat) {
  for (const auto& [bytes, format] :
       {std::pair(kPng, PictureFormat::kPng), std::pair(kJpeg, PictureFormat::kJpeg),
        std::pair(kLossy, PictureFormat::kWebp), std::pair(kLossless, PictureFormat::kWebp),
        std::pair(kExtended, PictureFormat::kWebp)}) {
    const PictureHeader header = ReadPictureHeader(bytes, "picture");
    EXPECT_EQ(header.format, format);
    EXPECT_EQ(header.width, 300) << bytes;
    EXPECT_EQ(header.height, 2) << bytes;
  }
}

TEST(PictureHeader, OtherFilesAreRefused) {
  for (const std::string& bytes : {""s, "GIF89a"s, "<svg/>"s, "RIFF\0\0\0\0WAVE"s, "\xff\xd8\xff"s,
                                   "\xff\xd8\xff\xe0\xff\xff"s + std::string(20, 'x')}) {
    EXPECT_THAT([&] { ReadPictureHeader(bytes, "x.gif"); },
                ThrowsMessage<Error>(HasSubstr("x.gif: not a PNG, JPEG or WebP")));
  }
}

TEST(PictureHeader, AbsurdSizesAreRefusedBeforeDecoding) {
  const auto png = [](const std::string& size) { return kPng.substr(0, 16) + size; };
  // 65536 x 1025 is just above 64 Mi pixels; 2^32-1 squared would overflow.
  for (const std::string& size :
       {"\0\x01\0\0\0\0\x04\x01"s, "\xff\xff\xff\xff\xff\xff\xff\xff"s, "\0\0\0\0\0\0\0\x01"s}) {
    EXPECT_THAT([&] { ReadPictureHeader(png(size), "huge"); },
                ThrowsMessage<Error>(HasSubstr("pixels")));
  }
  EXPECT_EQ(ReadPictureHeader(png("\0\x01\0\0\0\0\x04\0"s), "fits").height, 1024);
}

TEST(PictureHeader, EveryTruncationIsSafe) {
  for (const std::string& whole : {kPng, kJpeg, kLossy, kLossless, kExtended}) {
    for (size_t size = 0; size < 12; ++size) {
      EXPECT_THROW(ReadPictureHeader(whole.substr(0, size), "cut"), Error) << size;
    }
  }
}

}  // namespace
}  // namespace crossilo

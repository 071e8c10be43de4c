#include <opencv2/imgcodecs.hpp>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/embed/decode.h"
#include "crossilo/embed/picture_header.h"

namespace crossilo {
namespace {

// A copy of one pixel of 1, 3 or 4 channels in OpenCV's order, blue first.
void PutPixel(const uint8_t* bgra, int channels, uint8_t* rgb) {
  const int alpha = channels == 4 ? bgra[3] : 255;
  for (int c = 0; c < 3; ++c) {
    const int value = channels == 1 ? bgra[0] : bgra[2 - c];
    rgb[c] = static_cast<uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
  }
}

cv::Mat Decode(std::string_view bytes, PictureFormat format) {
  const cv::Mat buffer(1, static_cast<int>(bytes.size()), CV_8U, const_cast<char*>(bytes.data()));
  // UNCHANGED keeps the alpha channel but does not turn a photograph upright.
  cv::Mat decoded = cv::imdecode(
      buffer, format == PictureFormat::kJpeg ? cv::IMREAD_COLOR : cv::IMREAD_UNCHANGED);
  if (decoded.depth() == CV_16U) decoded.convertTo(decoded, CV_8U, 1 / 257.0);
  return decoded;
}

}  // namespace

Picture DecodePicture(std::string_view bytes, const std::string& origin) {
  const PictureHeader header = ReadPictureHeader(bytes, origin);
  cv::Mat decoded;
  try {
    if (bytes.size() < (size_t{1} << 30)) decoded = Decode(bytes, header.format);
  } catch (const std::exception&) {
    decoded.release();
  }
  const int channels = decoded.channels();
  if (decoded.empty() || decoded.depth() != CV_8U ||
      (channels != 1 && channels != 3 && channels != 4)) {
    throw Error("{}: a damaged picture; restore it or leave it out", origin);
  }
  Picture picture{decoded.cols, decoded.rows, {}};
  picture.rgb.resize(size_t(3) * decoded.cols * decoded.rows);
  for (int y = 0; y < decoded.rows; ++y) {
    const uint8_t* in = decoded.ptr<uint8_t>(y);
    for (int x = 0; x < decoded.cols; ++x) PutPixel(in + channels * x, channels, picture.at(x, y));
  }
  return picture;
}

Picture ReadPicture(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return DecodePicture({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

bool CanDecodePictures() { return true; }

}  // namespace crossilo

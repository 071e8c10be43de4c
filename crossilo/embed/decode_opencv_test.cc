#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/embed/decode.h"

namespace crossilo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string Encoded(const char* format, const cv::Mat& picture) {
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(cv::imencode(format, picture, bytes));
  return {bytes.begin(), bytes.end()};
}

// 16 x 12, a gradient with transparency.
cv::Mat Gradient() {
  cv::Mat picture(12, 16, CV_8UC4);
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 16; ++x)
      picture.at<cv::Vec4b>(y, x) = cv::Vec4b(x * 16, y * 20, 40, 255 - x);
  }
  return picture;
}

TEST(DecodePicture, TransparencyIsSetOnWhite) {
  cv::Mat picture(1, 3, CV_8UC4);
  picture.at<cv::Vec4b>(0, 0) = cv::Vec4b(30, 20, 10, 255);  // blue green red alpha
  picture.at<cv::Vec4b>(0, 1) = cv::Vec4b(30, 20, 10, 0);
  picture.at<cv::Vec4b>(0, 2) = cv::Vec4b(30, 20, 10, 51);  // a fifth: 255 - (255 - c) / 5
  const Picture decoded = DecodePicture(Encoded(".png", picture), "alpha.png");
  EXPECT_EQ(decoded.width, 3);
  EXPECT_EQ(decoded.height, 1);
  EXPECT_THAT(decoded.rgb, ElementsAre(10, 20, 30, 255, 255, 255, 206, 208, 210));
}

TEST(DecodePicture, GreyAndSixteenBitsBecomeRgb) {
  const cv::Mat grey(1, 1, CV_8U, cv::Scalar(77)),
      deep(1, 1, CV_16UC3, cv::Scalar(257, 514, 65535));
  EXPECT_THAT(DecodePicture(Encoded(".png", grey), "grey").rgb, ElementsAre(77, 77, 77));
  EXPECT_THAT(DecodePicture(Encoded(".png", deep), "deep").rgb, ElementsAre(255, 2, 1));
}

TEST(DecodePicture, JpegAndWebpComeCloseToThePicture) {
  const cv::Mat even(8, 8, CV_8UC3, cv::Scalar(30, 120, 200));
  for (const char* format : {".jpg", ".webp"}) {
    const Picture decoded = DecodePicture(Encoded(format, even), format);
    ASSERT_EQ(decoded.rgb.size(), 3u * 64) << format;
    EXPECT_NEAR(decoded.rgb[0], 200, 6) << format;
    EXPECT_NEAR(decoded.rgb[1], 120, 6) << format;
    EXPECT_NEAR(decoded.rgb[2], 30, 6) << format;
  }
}

TEST(DecodePicture, FilesAreReadAndNamed) {
  const auto path = std::filesystem::path(testing::TempDir()) / "decode_test" / "p.png";
  WriteFile(path, Encoded(".png", Gradient()));
  EXPECT_EQ(ReadPicture(path).width, 16);
  WriteFile(path, Encoded(".png", Gradient()).substr(0, 60));
  EXPECT_THAT([&] { ReadPicture(path); }, ThrowsMessage<Error>(HasSubstr("p.png: a damaged")));
  EXPECT_THROW(ReadPicture(path.parent_path() / "none.png"), Error);
  EXPECT_TRUE(CanDecodePictures());
}

// Cut and damaged files: an Error or some picture of the right size, never a
// crash.  The decoders' own complaints on stderr are not ours to silence.
TEST(DecodePicture, DamageNeverCrashes) {
  Random random(23);
  int refused = 0, decoded = 0;
  testing::internal::CaptureStderr();
  for (const char* format : {".png", ".jpg", ".webp"}) {
    const std::string whole = Encoded(format, Gradient());
    for (int i = 0; i < 700; ++i) {
      std::string damaged = whole.substr(0, i < 200 ? whole.size() * i / 200 : whole.size());
      for (uint64_t hits = i < 200 ? 0 : 1 + random.Below(4); hits > 0; --hits) {
        damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
      }
      try {
        const Picture picture = DecodePicture(damaged, "damaged");
        EXPECT_EQ(picture.rgb.size(), size_t(3) * picture.width * picture.height);
        ++decoded;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(refused, 500);
  EXPECT_GT(decoded, 100);
}

}  // namespace
}  // namespace crossilo

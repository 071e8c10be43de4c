#include "crossilo/embed/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossilo {
namespace {

using ::testing::ElementsAre;

// Grey pixels in one row.
Picture Row(const std::vector<uint8_t>& greys) {
  Picture picture{static_cast<int>(greys.size()), 1, {}};
  for (uint8_t grey : greys) picture.rgb.insert(picture.rgb.end(), 3, grey);
  return picture;
}

TEST(Resize, SameSizeIsTheSamePicture) {
  const Picture picture = Row({3, 200, 9});
  EXPECT_EQ(Resize(picture, 3, 1).rgb, picture.rgb);
}

TEST(Resize, ShrinkingWeighsEveryPixelUnderTheTriangle) {
  // 4 -> 2: the centres are at 0.5 and 2.5, the triangle reaches 2.  Pixels
  // 0 1 2 have the weights .75 .75 .25 for the left one, so
  // (.75 * 0 + .75 * 70 + .25 * 140) / 1.75 = 50; on the right pixels 1 2 3 have
  // .25 .75 .75, so (.25 * 70 + .75 * 140 + .75 * 210) / 1.75 = 160.
  EXPECT_THAT(Resize(Row({0, 70, 140, 210}), 2, 1).rgb, ElementsAre(50, 50, 50, 160, 160, 160));
}

TEST(Resize, EnlargingInterpolates) {
  // 2 -> 4: centres at -.25, .25, .75, 1.25; outside the picture the border counts.
  EXPECT_THAT(Resize(Row({0, 100}), 4, 1).rgb,
              ElementsAre(0, 0, 0, 25, 25, 25, 75, 75, 75, 100, 100, 100));
}

TEST(Resize, DownAndAcrossAgree) {
  const Picture row = Row({0, 70, 140, 210});
  const Picture column{1, 4, row.rgb};
  EXPECT_EQ(Resize(column, 1, 2).rgb, Resize(row, 2, 1).rgb);
}

TEST(FitOnWhite, KeepsTheShapeAndCentres) {
  const Picture wide = Row({10, 10, 10, 10});
  const Picture fitted = FitOnWhite(wide, 4, 3);
  for (int x = 0; x < 4; ++x) {
    EXPECT_EQ(*fitted.at(x, 0), 255);
    EXPECT_EQ(*fitted.at(x, 1), 10);
    EXPECT_EQ(*fitted.at(x, 2), 255);
  }
  // A line a thousand times longer than wide still leaves one pixel.
  const Picture line{1000, 1, std::vector<uint8_t>(3000, 0)};
  EXPECT_EQ(*FitOnWhite(line, 8, 8).at(3, 3), 0);
}

}  // namespace
}  // namespace crossilo

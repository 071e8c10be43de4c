#include "crossilo/embed/visual.h"

#include <gtest/gtest.h>

#include <cmath>

namespace crossilo {
namespace {

// 64 x 64, red green blue by a function of x and y.
template <typename Colour>
Picture Paint(Colour colour) {
  Picture picture{64, 64, std::vector<uint8_t>(3 * 64 * 64)};
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      const std::array<uint8_t, 3> c = colour(x, y);
      std::copy(c.begin(), c.end(), picture.at(x, y));
    }
  }
  return picture;
}

using Rgb = std::array<uint8_t, 3>;

TEST(Lab, KnownColours) {
  const auto near = [](Rgb rgb, float l, float a, float b) {
    const auto lab = Lab(rgb.data());
    EXPECT_NEAR(lab[0], l, 0.02);
    EXPECT_NEAR(lab[1], a, 0.02);
    EXPECT_NEAR(lab[2], b, 0.02);
  };
  near({255, 255, 255}, 100, 0, 0);
  near({0, 0, 0}, 0, 0, 0);
  near({255, 0, 0}, 53.24f, 80.09f, 67.20f);
  near({0, 0, 255}, 32.30f, 79.19f, -107.86f);
}

TEST(Hog, AnUprightEdgeVotesForTheTwoBinsAroundZeroDegrees) {
  // Dark left of x = 12, so only the cells of column 1 see a gradient.  Its
  // direction is 0 degrees, halfway between bins 8 (170) and 0 (10).
  const auto hog = Hog(Paint([](int x, int) {
    return x < 12 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
  }));
  ASSERT_EQ(hog.size(), static_cast<size_t>(kHogSize));
  // Block (0, 0): cells (0,0) (0,1) (1,0) (1,1); four equal entries, clipped
  // alike, hence 1/2 each after the second normalisation.
  for (int i = 0; i < 36; ++i) {
    const int cell = i / 9, bin = i % 9;
    const bool votes = (cell == 1 || cell == 3) && (bin == 0 || bin == 8);
    EXPECT_NEAR(hog[i], votes ? 0.5 : 0, 1e-3) << i;
  }
  // Block (0, 2) begins at cell column 2 and sees nothing.
  for (int i = 72; i < 108; ++i) EXPECT_EQ(hog[i], 0);
}

TEST(Hog, LightAndContrastDoNotMatter) {
  const auto stripes = [](uint8_t low, uint8_t high) {
    return Hog(Paint([=](int x, int y) {
      const uint8_t v = (x + 2 * y) % 16 < 8 ? low : high;
      return Rgb{v, v, v};
    }));
  };
  const auto strong = stripes(0, 240), weak = stripes(100, 160);
  for (size_t i = 0; i < strong.size(); ++i) EXPECT_NEAR(strong[i], weak[i], 1e-3);
}

TEST(ColourHistogram, SquaresSumToOneAndSeparateColours) {
  const auto red = ColourHistogram(Paint([](int, int) { return Rgb{255, 0, 0}; }));
  const auto blue = ColourHistogram(Paint([](int, int) { return Rgb{0, 0, 255}; }));
  const auto half = ColourHistogram(Paint([](int x, int) {
    return x < 32 ? Rgb{255, 0, 0} : Rgb{0, 0, 255};
  }));
  double norm = 0, apart = 0;
  for (size_t i = 0; i < red.size(); ++i) {
    norm += red[i] * red[i];
    apart += red[i] * blue[i];
    EXPECT_NEAR(half[i] * half[i], (red[i] * red[i] + blue[i] * blue[i]) / 2, 1e-4);
  }
  EXPECT_NEAR(norm, 1, 1e-4);
  EXPECT_NEAR(apart, 0, 1e-3);
}

TEST(Thumbnail, TilesHoldTheirMeanColour) {
  const auto tiles = Thumbnail(Paint([](int x, int y) {
    return x < 8 && y < 8 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
  }));
  EXPECT_NEAR(tiles[0], -1, 1e-4);  // L = 0
  EXPECT_NEAR(tiles[3], 1, 1e-4);   // L = 100
  EXPECT_NEAR(tiles[4], 0, 1e-3);
}

}  // namespace
}  // namespace crossilo

#pragma once

#include <array>
#include <vector>

#include "crossilo/embed/picture.h"

namespace crossilo {

constexpr int kVisualSide = 64;  // pictures are looked at in 64 x 64, on white
constexpr int kHogSize = 7 * 7 * 4 * 9;
constexpr int kColourSize = 4 * 6 * 6;
constexpr int kThumbnailSize = 8 * 8 * 3;

// The three parts of the classic descriptor, each for a 64 x 64 picture.

// Histograms of oriented gradients (Dalal and Triggs, CVPR 2005): 8 x 8 pixel
// cells, 9 unsigned directions, blocks of 2 x 2 cells normalised by L2-hys.
std::vector<float> Hog(const Picture& picture);

// Square roots of a joint Lab histogram (4 x 6 x 6 bins, votes shared between
// neighbouring bins); the squares sum to 1.
std::vector<float> ColourHistogram(const Picture& picture);

// The mean Lab colour of 8 x 8 tiles, about -1 .. 1.
std::vector<float> Thumbnail(const Picture& picture);

// CIE L*a*b* of an sRGB colour under D65: 0 .. 100, then about -128 .. 127.
std::array<float, 3> Lab(const uint8_t* rgb);

}  // namespace crossilo

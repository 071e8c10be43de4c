#pragma once

#include <cstdint>
#include <vector>

namespace crossilo {

// A decoded picture: 8 bits a channel, red green blue, row by row from the
// top, nothing between the rows.
struct Picture {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;  // 3 * width * height

  const uint8_t* at(int x, int y) const { return rgb.data() + 3 * (size_t(y) * width + x); }
  uint8_t* at(int x, int y) { return rgb.data() + 3 * (size_t(y) * width + x); }
};

// The picture at another size, aspect ratio not kept.  Every target pixel is
// the triangle-weighted mean of the source under it, so that nothing is
// skipped when shrinking.  The same size gives the same picture.
Picture Resize(const Picture& picture, int width, int height);

// The picture as large as fits into width x height, centred on white.
Picture FitOnWhite(const Picture& picture, int width, int height);

}  // namespace crossilo

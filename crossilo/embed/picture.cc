#include "crossilo/embed/picture.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace crossilo {
namespace {

// Which source pixels make one target pixel, and how much of each.
struct Tap {
  int first = 0;
  std::vector<float> weights;  // sum 1
};

std::vector<Tap> Taps(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(1.0, scale);
  std::vector<Tap> taps(to);
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale - 0.5;
    const int first = std::max(0, static_cast<int>(std::ceil(centre - reach)));
    const int last = std::min(from - 1, static_cast<int>(std::floor(centre + reach)));
    taps[i].first = first;
    double sum = 0;
    for (int j = first; j <= last; ++j) sum += std::max(0.0, 1 - std::abs(j - centre) / reach);
    for (int j = first; j <= last; ++j) {
      const double weight = std::max(0.0, 1 - std::abs(j - centre) / reach);
      taps[i].weights.push_back(static_cast<float>(weight / sum));
    }
  }
  return taps;
}

}  // namespace

Picture Resize(const Picture& picture, int width, int height) {
  assert(picture.width > 0 && picture.height > 0 && width > 0 && height > 0);
  if (picture.width == width && picture.height == height) return picture;
  const std::vector<Tap> across = Taps(picture.width, width), down = Taps(picture.height, height);
  std::vector<float> narrow(size_t(3) * width * picture.height);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < width; ++x) {
      float* out = &narrow[3 * (size_t(y) * width + x)];
      const uint8_t* in = picture.at(across[x].first, y);
      for (float weight : across[x].weights) {
        for (int c = 0; c < 3; ++c) out[c] += weight * *in++;
      }
    }
  }
  Picture result{width, height, std::vector<uint8_t>(size_t(3) * width * height)};
  const size_t row = size_t(3) * width;
  std::vector<float> sums(row);
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (size_t k = 0; k < down[y].weights.size(); ++k) {
      const float* in = &narrow[(down[y].first + k) * row];
      for (size_t i = 0; i < row; ++i) sums[i] += down[y].weights[k] * in[i];
    }
    for (size_t i = 0; i < row; ++i) {
      result.rgb[y * row + i] = static_cast<uint8_t>(std::clamp(sums[i] + 0.5f, 0.0f, 255.0f));
    }
  }
  return result;
}

Picture FitOnWhite(const Picture& picture, int width, int height) {
  if (picture.width == width && picture.height == height) return picture;
  const double scale = std::min(static_cast<double>(width) / picture.width,
                                static_cast<double>(height) / picture.height);
  const int w = std::clamp(static_cast<int>(std::lround(picture.width * scale)), 1, width);
  const int h = std::clamp(static_cast<int>(std::lround(picture.height * scale)), 1, height);
  const Picture small = Resize(picture, w, h);
  Picture result{width, height, std::vector<uint8_t>(size_t(3) * width * height, 255)};
  for (int y = 0; y < h; ++y) {
    std::copy_n(small.at(0, y), 3 * w, result.at((width - w) / 2, y + (height - h) / 2));
  }
  return result;
}

}  // namespace crossilo

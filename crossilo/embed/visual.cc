#include "crossilo/embed/visual.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace crossilo {
namespace {

constexpr int kSide = kVisualSide, kCell = 8, kCells = kSide / kCell, kBins = 9;

struct Gradient {
  float x = 0, y = 0, square = 0;
};

// The gradient of the channel where it is steepest; edges repeat the border.
Gradient Steepest(const Picture& picture, int x, int y) {
  const uint8_t* left = picture.at(std::max(x - 1, 0), y);
  const uint8_t* right = picture.at(std::min(x + 1, kSide - 1), y);
  const uint8_t* above = picture.at(x, std::max(y - 1, 0));
  const uint8_t* below = picture.at(x, std::min(y + 1, kSide - 1));
  Gradient best;
  for (int c = 0; c < 3; ++c) {
    const float dx = (right[c] - left[c]) / 255.0f, dy = (below[c] - above[c]) / 255.0f;
    const float square = dx * dx + dy * dy;
    if (square > best.square) best = {dx, dy, square};
  }
  return best;
}

void L2Normalise(float* values, int n) {
  float sum = 1e-4f;
  for (int i = 0; i < n; ++i) sum += values[i] * values[i];
  for (int i = 0; i < n; ++i) values[i] /= std::sqrt(sum);
}

std::vector<float> CellHistograms(const Picture& picture) {
  std::vector<float> cells(kCells * kCells * kBins);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const Gradient gradient = Steepest(picture, x, y);
      if (gradient.square == 0) continue;
      const float turn = std::atan2(gradient.y, gradient.x) / std::numbers::pi_v<float>;
      const float bin = (turn < 0 ? turn + 1 : turn) * kBins - 0.5f;
      const int low = static_cast<int>(std::floor(bin));
      const float magnitude = std::sqrt(gradient.square), share = bin - low;
      float* cell = &cells[((y / kCell) * kCells + x / kCell) * kBins];
      cell[(low + kBins) % kBins] += magnitude * (1 - share);
      cell[(low + 1) % kBins] += magnitude * share;
    }
  }
  return cells;
}

float Linear(uint8_t value) {
  const float v = value / 255.0f;
  return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
}

float LabCurve(float t) {
  return t > 216.0f / 24389 ? std::cbrt(t) : (24389.0f / 27 * t + 16) / 116;
}

// Where a value stands among `bins` bin centres, and the share of the upper.
struct Vote {
  int low, high;
  float share;
};

Vote Among(float value, float from, float to, int bins) {
  const float place = std::clamp((value - from) / (to - from), 0.0f, 1.0f) * (bins - 1);
  const int low = static_cast<int>(place);
  return {low, std::min(low + 1, bins - 1), place - low};
}

}  // namespace

std::array<float, 3> Lab(const uint8_t* rgb) {
  static const std::array<float, 256> linear = [] {
    std::array<float, 256> table;
    for (int i = 0; i < 256; ++i) table[i] = Linear(static_cast<uint8_t>(i));
    return table;
  }();
  const float r = linear[rgb[0]], g = linear[rgb[1]], b = linear[rgb[2]];
  const float x = LabCurve((0.4124564f * r + 0.3575761f * g + 0.1804375f * b) / 0.95047f);
  const float y = LabCurve(0.2126729f * r + 0.7151522f * g + 0.0721750f * b);
  const float z = LabCurve((0.0193339f * r + 0.1191920f * g + 0.9503041f * b) / 1.08883f);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

std::vector<float> Hog(const Picture& picture) {
  const std::vector<float> cells = CellHistograms(picture);
  std::vector<float> hog;
  hog.reserve(kHogSize);
  for (int y = 0; y + 1 < kCells; ++y) {
    for (int x = 0; x + 1 < kCells; ++x) {
      const size_t start = hog.size();
      for (int cell : {y * kCells + x, (y + 1) * kCells + x}) {
        hog.insert(hog.end(), &cells[cell * kBins], &cells[(cell + 2) * kBins]);
      }
      float* block = &hog[start];
      L2Normalise(block, 4 * kBins);
      for (int i = 0; i < 4 * kBins; ++i) block[i] = std::min(block[i], 0.2f);
      L2Normalise(block, 4 * kBins);
    }
  }
  return hog;
}

std::vector<float> ColourHistogram(const Picture& picture) {
  std::vector<float> histogram(kColourSize);
  for (int i = 0; i < kSide * kSide; ++i) {
    const auto [l, a, b] = Lab(&picture.rgb[3 * i]);
    const Vote votes[3] = {Among(l, 0, 100, 4), Among(a, -60, 80, 6), Among(b, -80, 80, 6)};
    for (int corner = 0; corner < 8; ++corner) {
      int bin = 0;
      float share = 1.0f / (kSide * kSide);
      for (int axis = 0; axis < 3; ++axis) {
        const Vote& vote = votes[axis];
        const bool up = corner >> axis & 1;
        bin = bin * (axis == 0 ? 4 : 6) + (up ? vote.high : vote.low);
        share *= up ? vote.share : 1 - vote.share;
      }
      histogram[bin] += share;
    }
  }
  for (float& value : histogram) value = std::sqrt(value);
  return histogram;
}

std::vector<float> Thumbnail(const Picture& picture) {
  std::vector<float> tiles(kThumbnailSize);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const auto lab = Lab(picture.at(x, y));
      for (int c = 0; c < 3; ++c) tiles[3 * ((y / 8) * 8 + x / 8) + c] += lab[c] / 64;
    }
  }
  for (size_t i = 0; i < tiles.size(); i += 3) tiles[i] = 2 * tiles[i] - 100;
  for (float& value : tiles) value /= 100;
  return tiles;
}

}  // namespace crossilo

#include "crossilo/base/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace crossilo {
namespace {

// Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014.
uint64_t SplitMix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

Random::Random(uint64_t seed, std::initializer_list<uint64_t> path, std::string_view purpose) {
  // Each element is mixed into the state before the next is added, so that
  // {1, 2} and {2, 1} name different streams.
  uint64_t state = seed;
  for (uint64_t step : path) state = SplitMix(state) ^ (step + 0x632be59bd9b4e019);
  for (unsigned char letter : purpose) state = SplitMix(state) ^ letter;
  for (auto& word : state_) word = SplitMix(state);
}

// Blackman and Vigna, Scrambled Linear Pseudorandom Number Generators, 2018.
uint64_t Random::Bits() {
  const uint64_t result = Rotate(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = Rotate(state_[3], 45);
  return result;
}

double Random::Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

uint64_t Random::Below(uint64_t n) {
  // Draws at or above the largest multiple of n would favour small results.
  const uint64_t excess = (UINT64_MAX % n + 1) % n;
  uint64_t draw = Bits();
  while (draw > UINT64_MAX - excess) draw = Bits();
  return draw % n;
}

double Random::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  // Box-Muller; 1 - Uniform() is never 0, so the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  const double angle = 2 * std::numbers::pi * Uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

// Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, 2000.
double Random::Gamma(double shape) {
  if (shape < 1) {
    // Gamma(a) = Gamma(a + 1) * U^(1/a)
    const double boost = std::pow(1 - Uniform(), 1 / shape);
    return Gamma(shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = Normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1 - Uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<double> Random::Dirichlet(double concentration, int n) {
  std::vector<double> share(n);
  for (double& x : share) x = Gamma(concentration);
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  // Below about 0.001 every gamma can underflow; the limit of the
  // distribution is then one silo that takes all.
  if (sum <= 0) {
    std::fill(share.begin(), share.end(), 0.0);
    share[Below(n)] = 1;
    return share;
  }
  for (double& x : share) x /= sum;
  return share;
}

std::vector<int64_t> Random::Permutation(int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  Shuffle(order);
  return order;
}

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace crossilo {

// A stream of random numbers that is the same on every machine, compiler and
// library: xoshiro256** seeded through SplitMix64, with distributions of our
// own because the standard ones differ between libraries.
//
// Streams are named, not passed around: Random(seed, {round, silo}, "batches")
// is independent of every other name, so nothing has to be stored to resume.
class Random {
 public:
  explicit Random(uint64_t seed, std::initializer_list<uint64_t> path = {},
                  std::string_view purpose = {});

  uint64_t Bits();
  double Uniform();            // in [0, 1), 53 random bits
  uint64_t Below(uint64_t n);  // in [0, n), without bias; n > 0
  double Normal();             // mean 0, deviation 1
  double Gamma(double shape);  // scale 1; shape > 0

  // One draw of Dirichlet(concentration, ..., concentration) of length n.
  std::vector<double> Dirichlet(double concentration, int n);

  // 0 .. n-1 in random order.
  std::vector<int64_t> Permutation(int64_t n);

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[Below(i)]);
    }
  }

 private:
  uint64_t state_[4];
  double spare_ = 0;  // the second normal of the last pair
  bool has_spare_ = false;
};

}  // namespace crossilo

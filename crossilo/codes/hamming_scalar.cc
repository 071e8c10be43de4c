#include <bit>

#include "crossilo/codes/hamming.h"

namespace crossilo {
namespace {

void Distances(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
               uint16_t* out) {
  for (size_t i = 0; i < n; ++i, codes += words) {
    int distance = 0;
    for (size_t w = 0; w < words; ++w) distance += std::popcount(query[w] ^ codes[w]);
    out[i] = static_cast<uint16_t>(distance);
  }
}

}  // namespace

HammingFunction* const hamming::kScalar = Distances;

}  // namespace crossilo

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace crossilo {

// out[i] = number of bits in which `query` (words) differs from code i of
// `codes` (n x words, row-major).  words is at most 1023, so a distance fits.
using HammingFunction = void(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
                             uint16_t* out);

// By the fastest kernel this processor has.  Safe to call from many threads.
void HammingDistances(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
                      uint16_t* out);

struct HammingKernel {
  const char* name;  // "scalar", "avx2", "avx512", "neon"
  HammingFunction* distances;
};

// The kernels that run on this processor, scalar first, fastest last.
std::vector<HammingKernel> AvailableKernels();

// One a file; null where it was not compiled for this architecture.  Only
// AvailableKernels() knows whether the processor at hand can run it.
namespace hamming {
extern HammingFunction* const kScalar;
extern HammingFunction* const kAvx2;
extern HammingFunction* const kAvx512;
extern HammingFunction* const kNeon;
}  // namespace hamming

}  // namespace crossilo

#include "crossilo/codes/hamming.h"

namespace crossilo {

std::vector<HammingKernel> AvailableKernels() {
  std::vector<HammingKernel> kernels = {{"scalar", hamming::kScalar}};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
    kernels.push_back({"avx2", hamming::kAvx2});
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq")) {
    kernels.push_back({"avx512", hamming::kAvx512});
  }
#elif defined(__aarch64__)
  kernels.push_back({"neon", hamming::kNeon});  // part of the architecture
#endif
  return kernels;
}

void HammingDistances(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
                      uint16_t* out) {
  static HammingFunction* const fastest = AvailableKernels().back().distances;
  fastest(query, codes, n, words, out);
}

}  // namespace crossilo

#include "crossilo/codes/hamming.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <bit>
#endif

namespace crossilo {

#if defined(__aarch64__)
namespace {

// The bits set in each of the two 64-bit lanes of codes xor query.
inline uint64x2_t Differing(const uint64_t* codes, uint64x2_t query) {
  const uint8x16_t bytes = vcntq_u8(vreinterpretq_u8_u64(veorq_u64(vld1q_u64(codes), query)));
  return vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes)));
}

inline uint16_t AnyWordsOne(const uint64_t* query, const uint64_t* code, size_t words) {
  uint64x2_t sum = vdupq_n_u64(0);
  size_t w = 0;
  for (; w + 2 <= words; w += 2) sum = vaddq_u64(sum, Differing(code + w, vld1q_u64(query + w)));
  uint64_t distance = vaddvq_u64(sum);
  if (w < words) distance += static_cast<uint64_t>(std::popcount(query[w] ^ code[w]));
  return static_cast<uint16_t>(distance);
}

void OneWord(uint64_t query, const uint64_t* codes, size_t n, uint16_t* out) {
  const uint64x2_t q = vdupq_n_u64(query);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const uint32x4_t four =
        vcombine_u32(vmovn_u64(Differing(codes + i, q)), vmovn_u64(Differing(codes + i + 2, q)));
    vst1_u16(out + i, vmovn_u32(four));
  }
  for (; i < n; ++i) out[i] = AnyWordsOne(&query, codes + i, 1);
}

void Distances(const uint64_t* query, const uint64_t* codes, size_t n, size_t words,
               uint16_t* out) {
  if (words == 1) return OneWord(*query, codes, n, out);
  // With 2 and 4 constant the inner loop unrolls.
  if (words == 2) {
    for (size_t i = 0; i < n; ++i) out[i] = AnyWordsOne(query, codes + 2 * i, 2);
  } else if (words == 4) {
    for (size_t i = 0; i < n; ++i) out[i] = AnyWordsOne(query, codes + 4 * i, 4);
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = AnyWordsOne(query, codes + words * i, words);
  }
}

}  // namespace

HammingFunction* const hamming::kNeon = Distances;
#else
HammingFunction* const hamming::kNeon = nullptr;
#endif

}  // namespace crossilo

#include "crossilo/index/half.h"

#include <bit>

namespace crossilo {

uint16_t ToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
  if (size > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  if (size >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520
  uint32_t kept;   // the half's bits before rounding
  uint32_t shift;  // bits of `mantissa` that do not fit
  uint32_t mantissa;
  if (size < 0x38800000) {                                      // below 2^-14: units of 2^-24
    if (size < 0x33000000) return static_cast<uint16_t>(sign);  // below 2^-25: nearer to zero
    mantissa = (size & 0x7FFFFF) | 0x800000;
    shift = 126 - (size >> 23);
    kept = mantissa >> shift;
  } else {
    mantissa = size;
    shift = 13;
    kept = (size >> 13) - (112 << 10);  // the exponents' biases are 127 and 15
  }
  const uint32_t rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
  if (rest > middle || (rest == middle && (kept & 1) != 0)) ++kept;
  return static_cast<uint16_t>(sign | kept);
}

float FromHalf(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
  if (exponent == 0) {
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
  const uint32_t widened = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | widened << 23 | mantissa << 13);
}

}  // namespace crossilo

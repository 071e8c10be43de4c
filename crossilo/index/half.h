#pragma once

#include <cstdint>

namespace crossilo {

inline constexpr float kMostHalf = 65504;  // what float16 reaches

// The nearest float16 (IEEE 754 binary16), of two equally near ones the even
// one; from 65520 on infinity.  NaN stays one.
uint16_t ToHalf(float value);

// Exact.
float FromHalf(uint16_t half);

}  // namespace crossilo

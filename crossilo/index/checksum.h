#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace crossilo {

// XXH64 (Yann Collet, xxHash specification 0.1.1): no defence against an
// attacker, but it finds every likely damage, at the speed of memory and
// without a special instruction.
uint64_t Checksum(std::string_view bytes, uint64_t seed = 0);

inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace crossilo

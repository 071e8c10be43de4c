#include "crossilo/index/checksum.h"

#include <bit>
#include <cstring>

namespace crossilo {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                   kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                   kPrime5 = 0x27D4EB2F165667C5;

template <typename T>
uint64_t Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint64_t Round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

uint64_t MergeLane(uint64_t hash, uint64_t lane) {
  return (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
}

// Whole stripes of 32 bytes, in four independent lanes.
uint64_t Stripes(const char*& at, const char* end, uint64_t seed) {
  uint64_t a = seed + kPrime1 + kPrime2, b = seed + kPrime2, c = seed, d = seed - kPrime1;
  for (; end - at >= 32; at += 32) {
    a = Round(a, Load<uint64_t>(at));
    b = Round(b, Load<uint64_t>(at + 8));
    c = Round(c, Load<uint64_t>(at + 16));
    d = Round(d, Load<uint64_t>(at + 24));
  }
  const uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return MergeLane(MergeLane(MergeLane(MergeLane(hash, a), b), c), d);
}

}  // namespace

uint64_t Checksum(std::string_view bytes, uint64_t seed) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  uint64_t hash = (bytes.size() >= 32 ? Stripes(at, end, seed) : seed + kPrime5) + bytes.size();
  for (; end - at >= 8; at += 8) {
    hash = std::rotl(hash ^ Round(0, Load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    hash = std::rotl(hash ^ Load<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at) hash = std::rotl(hash ^ Load<uint8_t>(at) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace crossilo

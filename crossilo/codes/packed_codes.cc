#include "crossilo/codes/packed_codes.h"

#include <limits>

#include "crossilo/base/error.h"

namespace crossilo {

PackedCodes::PackedCodes(int64_t size, int bits) : size_(size), bits_(bits) {
  if (bits < 8 || bits > 1024 || bits % 8 != 0) {
    throw Error("codes of {} bits; bits must be a multiple of 8 from 8 to 1024", bits);
  }
  // 1024 bits are 16 words: below this size no count of bytes overflows.
  if (size < 0 || size > std::numeric_limits<int64_t>::max() / 1024) {
    throw Error("{} codes of {} bits; the number of codes is damaged", size, bits);
  }
  words_.resize(static_cast<size_t>(size) * words_per_code());
}

std::vector<uint8_t> PackedCodes::ToBytes() const {
  const int bytes_per_code = bits_ / 8;
  std::vector<uint8_t> bytes;
  bytes.reserve(static_cast<size_t>(size_) * bytes_per_code);
  for (int64_t i = 0; i < size_; ++i) {
    const auto code = Code(i);
    for (int j = 0; j < bytes_per_code; ++j) {
      bytes.push_back(static_cast<uint8_t>(code[j / 8] >> (8 * (j % 8))));
    }
  }
  return bytes;
}

PackedCodes PackedCodes::FromBytes(std::span<const uint8_t> bytes, int64_t size, int bits) {
  if (size < 0 || size > static_cast<int64_t>(bytes.size())) {
    // Before the constructor: it would allocate what a damaged size asks for.
    throw Error("{} bytes cannot hold {} codes of {} bits", bytes.size(), size, bits);
  }
  PackedCodes codes(size, bits);
  const int bytes_per_code = bits / 8;
  if (bytes.size() != static_cast<size_t>(size) * bytes_per_code) {
    throw Error("{} codes of {} bits take {} bytes, not {}", size, bits, size * bytes_per_code,
                bytes.size());
  }
  for (int64_t i = 0; i < size; ++i) {
    uint64_t* code = &codes.words_[static_cast<size_t>(i) * codes.words_per_code()];
    for (int j = 0; j < bytes_per_code; ++j) {
      code[j / 8] |= uint64_t{bytes[i * bytes_per_code + j]} << (8 * (j % 8));
    }
  }
  return codes;
}

PackedCodes Pack(const float* relaxed, int64_t rows, int bits) {
  PackedCodes codes(rows, bits);
  for (int64_t i = 0; i < rows; ++i) {
    for (int b = 0; b < bits; ++b) {
      if (relaxed[i * bits + b] > 0) codes.SetBit(i, b);
    }
  }
  return codes;
}

std::vector<float> Unpack(const PackedCodes& codes) {
  std::vector<float> relaxed;
  relaxed.reserve(static_cast<size_t>(codes.size()) * codes.bits());
  for (int64_t i = 0; i < codes.size(); ++i) {
    for (int b = 0; b < codes.bits(); ++b) relaxed.push_back(codes.Bit(i, b) ? 1.0f : -1.0f);
  }
  return relaxed;
}

}  // namespace crossilo

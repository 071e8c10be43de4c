#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

// Codes of equal length, packed row-major in 64-bit words: bit b of code i is
// bit b % 64 of its word b / 64.  Bits at and above bits() are always zero, so
// whole words can be compared.
class PackedCodes {
 public:
  PackedCodes() = default;
  // All zero.  Throws Error unless bits is a multiple of 8 from 8 to 1024 and
  // size is not negative.
  PackedCodes(int64_t size, int bits);

  int64_t size() const { return size_; }
  int bits() const { return bits_; }
  int words_per_code() const { return (bits_ + 63) / 64; }

  std::span<const uint64_t> words() const { return words_; }
  std::span<const uint64_t> Code(int64_t i) const {
    return words().subspan(static_cast<size_t>(i) * words_per_code(), words_per_code());
  }
  bool Bit(int64_t i, int b) const { return Code(i)[b / 64] >> (b % 64) & 1; }
  void SetBit(int64_t i, int b) {
    words_[i * words_per_code() + b / 64] |= uint64_t{1} << (b % 64);
  }

  // size() x bits() / 8 bytes, row-major: bit b of a code is bit b % 8 of its
  // byte b / 8, least significant first (numpy.unpackbits(bitorder="little")).
  // The same on every machine.
  std::vector<uint8_t> ToBytes() const;
  // The inverse.  Throws Error where the bytes are not size * bits / 8.
  static PackedCodes FromBytes(std::span<const uint8_t> bytes, int64_t size, int bits);

  bool operator==(const PackedCodes&) const = default;

 private:
  int64_t size_ = 0;
  int bits_ = 0;
  std::vector<uint64_t> words_;
};

// Codes of relaxed codes, rows x bits floats: a bit is 1 where the value is
// above zero.  Zero counts as 0, as in the DCMH authors' evaluation, and so
// does NaN.
PackedCodes Pack(const float* relaxed, int64_t rows, int bits);

// rows x bits floats: +1 for a 1, -1 for a 0.
std::vector<float> Unpack(const PackedCodes& codes);

}  // namespace crossilo

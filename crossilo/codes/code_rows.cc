#include "crossilo/codes/code_rows.h"

#include <cstring>

#include "crossilo/base/error.h"

namespace crossilo {

int RowBytes(int bits) {
  if (bits <= 16) return 2;
  if (bits <= 32) return 4;
  return (bits + 63) / 64 * 8;
}

std::vector<std::byte> ToRows(const PackedCodes& codes) {
  const size_t stride = RowBytes(codes.bits()), bytes = codes.bits() / 8;
  const std::vector<uint8_t> packed = codes.ToBytes();
  std::vector<std::byte> rows(codes.size() * stride);
  for (int64_t i = 0; i < codes.size(); ++i) {
    std::memcpy(rows.data() + i * stride, packed.data() + i * bytes, bytes);
  }
  return rows;
}

PackedCodes FromRows(std::span<const std::byte> rows, int bits) {
  const size_t stride = RowBytes(bits), bytes = bits / 8;
  if (rows.size() % stride != 0) {
    throw Error("{} bytes are no whole rows of {} bytes, which codes of {} bits take", rows.size(),
                stride, bits);
  }
  const size_t size = rows.size() / stride;
  std::vector<uint8_t> packed(size * bytes);
  for (size_t i = 0; i < size; ++i) {
    std::memcpy(packed.data() + i * bytes, rows.data() + i * stride, bytes);
  }
  return PackedCodes::FromBytes(packed, static_cast<int64_t>(size), bits);
}

}  // namespace crossilo

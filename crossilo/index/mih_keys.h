#pragma once

#include <cstdint>
#include <vector>

#include "crossilo/index/index.h"

namespace crossilo {

// By table the bits of a code that its key is made of, no bit in two of them.
using MihKeys = std::vector<std::vector<uint16_t>>;

// Deals the bits of a table's codes to keys so that each key tells as much as it
// can: bits that vary, the most undecided ones first, and bits that go together
// in different keys.  From a sample of the codes; the same for the same codes.
class KeyDealer {
 public:
  explicit KeyDealer(const Table& table);

  // Bits that vary, and can be in a key.
  int bits() const { return static_cast<int>(bits_.size()); }

  // `tables` keys of `length` bits, tables * length <= bits(); where no length
  // is left they have the remaining bits as well.
  MihKeys Deal(int tables, int length) const;

 private:
  std::vector<uint16_t> bits_;
  std::vector<std::vector<int32_t>> alike_;  // by bit and bit: squared correlation, in millionths
};

}  // namespace crossilo

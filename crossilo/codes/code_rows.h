#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/codes/packed_codes.h"

namespace crossilo {

// Bytes that a code of so many bits takes where it is searched: 2, 4, 8, and
// from there multiples of 8, so that codes of 16 and 32 bits cost no more
// memory than they have and every length is a whole number of machine words.
// Bit b of a code is bit b % 8 of byte b / 8; bits at and above `bits` are 0.
int RowBytes(int bits);

// size() x RowBytes(bits()) bytes.
std::vector<std::byte> ToRows(const PackedCodes& codes);
// The inverse.  Throws Error where the bytes are no whole rows.
PackedCodes FromRows(std::span<const std::byte> rows, int bits);

}  // namespace crossilo

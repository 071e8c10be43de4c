#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// What stands before the elements of a .npy file.
struct NpyHead {
  std::string descr;  // such as "<f4"; "" for a record
  bool fortran_order = false;
  std::vector<int64_t> shape;  // none negative; the product may be anything
  size_t data_at = 0;          // where the elements begin, within the bytes
};

// Throws Error where the bytes have no whole header.
NpyHead ParseNpyHead(std::span<const std::byte> bytes, const std::string& origin);

// The whole number that `text` is from `at` to its end, or -1.
int64_t DigitsAt(std::string_view text, size_t at);

}  // namespace crossilo

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace crossilo {

enum class Dtype { kBool, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kF32, kF64 };

size_t SizeOf(Dtype type);
std::string NameOf(Dtype type);  // "float16", as numpy says it

// Numbers from a file, row-major, as they lie there: mapped where the format
// allows it, so opening a 3 GB feature file costs nothing.
struct Array {
  Dtype type = Dtype::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes` alive; shared by views only

  int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  int64_t size() const;  // number of elements
};

}  // namespace crossilo

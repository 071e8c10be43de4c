#include "crossilo/data/array.h"

namespace crossilo {

size_t SizeOf(Dtype type) {
  switch (type) {
    case Dtype::kBool:
    case Dtype::kI8:
    case Dtype::kU8:
      return 1;
    case Dtype::kI16:
    case Dtype::kU16:
    case Dtype::kF16:
      return 2;
    case Dtype::kI32:
    case Dtype::kU32:
    case Dtype::kF32:
      return 4;
    default:
      return 8;
  }
}

std::string NameOf(Dtype type) {
  static constexpr const char* kNames[] = {"bool",   "int8",    "uint8",   "int16",
                                           "uint16", "int32",   "uint32",  "int64",
                                           "uint64", "float16", "float32", "float64"};
  return kNames[static_cast<size_t>(type)];
}

int64_t Array::size() const {
  int64_t product = 1;
  for (int64_t extent : shape) product *= extent;
  return product;
}

}  // namespace crossilo

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace crossilo {

// What can be known about a MATLAB file before a library looks at it.
struct MatOutline {
  bool hdf5 = false;         // version 7.3
  int64_t variables = -1;    // how many it has; -1: not known (7.3)
  uint64_t most_bytes = 0;   // no variable can need more
  uint64_t most_filled = 0;  // what a sparse variable may need once made dense
};

// Walks the file's elements and unpacks the packed ones, checksums verified.
// Throws Error where the file is no .mat of version 5 to 7.3 or is not whole.
MatOutline CheckMat(std::span<const std::byte> file, const std::string& origin);

}  // namespace crossilo

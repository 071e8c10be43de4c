#pragma once

#include <cstdint>
#include <vector>

#include "crossilo/index/index.h"

namespace crossilo {

// The slots of a table of codes, those of equal codes next to each other and
// ascending; begins[i] is where those of the i-th distinct code begin.  The same
// whatever the number of threads.
struct CodeGroups {
  std::vector<uint32_t> slots, begins;
};
CodeGroups GroupEqual(const Table& table, int threads);

}  // namespace crossilo

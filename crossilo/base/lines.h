#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// The lines of a text without their line ends, empty ones kept; the last need
// not have one.  An empty text has none.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace crossilo

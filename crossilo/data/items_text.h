#pragma once

#include <string>
#include <string_view>

#include "crossilo/data/items.h"

namespace crossilo {

// ReadItems for text in memory; `origin` stands in errors for the path.
// Without `escapes` a backslash is a backslash, as tables from elsewhere mean.
Items ParseItems(std::string_view text, const std::string& origin, bool escapes);

}  // namespace crossilo

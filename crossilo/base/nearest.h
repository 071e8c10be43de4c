#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// The least number of single letters to insert, delete, replace or swap with
// their neighbour that turns `a` into `b`.
int EditDistance(std::string_view a, std::string_view b);

// The known name a person most likely meant, or "" when none is close.
std::string Nearest(std::string_view typed, const std::vector<std::string>& known);

// "; did you mean 'beta'?" or, when nothing is close, "; known are a, b, c".
std::string Suggestion(std::string_view typed, const std::vector<std::string>& known);

}  // namespace crossilo

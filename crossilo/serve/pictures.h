#pragma once

#include <string_view>

namespace crossilo {

// "image/png", "image/jpeg" or "image/webp" by the first bytes, whatever a
// name or a header says; "" for anything else.
std::string_view PictureType(std::string_view bytes);

}  // namespace crossilo

#pragma once

#include <string>
#include <string_view>

namespace crossilo {

// Whether the bytes are UTF-8 as RFC 3629 has it: no overlong forms, no
// surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view bytes);

// Appends one character; U+FFFD where `code` is none.
void AppendUtf8(char32_t code, std::string& out);

}  // namespace crossilo

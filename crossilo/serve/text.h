#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace crossilo {

// How many characters (code points) there are, or nothing where the bytes are
// not UTF-8: too long forms, halves of UTF-16 pairs and numbers above U+10FFFF
// are not.
std::optional<size_t> CountCharacters(std::string_view bytes);

// With A to Z made small; the names of HTTP know no others.
std::string Lower(std::string_view text);

// Whether HTTP allows a byte in no line: the ASCII controls but the tab.
inline bool IsControl(char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; }

// Appends the text as a JSON string, quotes included.  Bytes that are no UTF-8
// become U+FFFD, so that the result is valid whatever came.
void AppendJson(std::string& out, std::string_view text);

// How deep brackets and braces of a JSON text are nested; strings are skipped.
// Of text that is not JSON, an upper bound of what a parser would go down.
int NestingDepth(std::string_view json);

// At most so many characters for a message, "..." where more stood there.
std::string Shortened(std::string_view text, size_t most = 40);

}  // namespace crossilo

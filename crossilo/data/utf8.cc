#include "crossilo/data/utf8.h"

#include <cstddef>

namespace crossilo {
namespace {

bool IsCharacter(char32_t code) { return code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000); }

// The bytes that a lead byte asks for after it, or -1.
int Following(unsigned char lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xC2 && lead < 0xE0) return 1;
  if (lead >= 0xE0 && lead < 0xF0) return 2;
  if (lead >= 0xF0 && lead < 0xF5) return 3;
  return -1;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const int following = Following(lead);
    if (following < 0 || bytes.size() - i - 1 < static_cast<size_t>(following)) return false;
    char32_t code = following == 0 ? lead : lead & (0x3F >> following);
    for (int k = 0; k < following; ++k) {
      const auto next = static_cast<unsigned char>(bytes[++i]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    // The lead bytes rule out overlong forms of two bytes, not of three or four.
    if (!IsCharacter(code) || (following == 2 && code < 0x800) ||
        (following == 3 && code < 0x10000)) {
      return false;
    }
  }
  return true;
}

void AppendUtf8(char32_t code, std::string& out) {
  if (!IsCharacter(code)) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace crossilo

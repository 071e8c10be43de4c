#include "crossilo/serve/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace crossilo {
namespace {

// Bytes of the character that begins at text[at], or 0 where none does
// (Unicode 15, table 3-7).
size_t CharacterLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool Plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<size_t> CountCharacters(std::string_view bytes) {
  size_t count = 0;
  for (size_t at = 0; at < bytes.size(); ++count) {
    const size_t length = CharacterLength(bytes, at);
    if (length == 0) return std::nullopt;
    at += length;
  }
  return count;
}

void AppendJson(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    size_t plain = at;
    while (plain < text.size() && Plain(text[plain])) ++plain;
    out.append(text, at, plain - at);
    at = plain;
    if (at == text.size()) break;
    const size_t length = CharacterLength(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length == 1) {
      AppendEscaped(out, text[at]);
    } else {
      out.append(text, at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  out += '"';
}

int NestingDepth(std::string_view json) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

std::string Shortened(std::string_view text, size_t most) {
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, end)) + "...";
    end += std::max<size_t>(CharacterLength(text, end), 1);
  }
  return std::string(text);
}

}  // namespace crossilo

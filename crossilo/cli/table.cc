#include "crossilo/cli/table.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace crossilo {
namespace {

struct Range {
  char32_t first, last;
};

// Unicode's EastAsianWidth.txt, W and F, and whole blocks of emoji.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x3247},   {0x3250, 0x4dbf},   {0x4e00, 0xa4c6},   {0xa960, 0xa97c},
    {0xac00, 0xd7a3},   {0xf900, 0xfad9},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6b},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x1b2fb}, {0x1f004, 0x1f004},
    {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

// Marks drawn over the character before them, skin tones among them.
constexpr Range kNone[] = {{0x0300, 0x036f},   {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},
                           {0x200b, 0x200f},   {0x2060, 0x2060},   {0x20d0, 0x20ff},
                           {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},   {0xfeff, 0xfeff},
                           {0x1f3fb, 0x1f3ff}, {0xe0020, 0xe007f}, {0xe0100, 0xe01ef}};
constexpr char32_t kJoiner = 0x200d, kDrawAsEmoji = 0xfe0f;

bool In(std::span<const Range> ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& r) { return r.first <= c && c <= r.last; });
}

// Takes the first character off `text`; a byte that starts none comes as U+FFFD.
char32_t Next(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t length = byte(0) < 0x80             ? 1
                        : (byte(0) & 0xe0) == 0xc0 ? 2
                        : (byte(0) & 0xf0) == 0xe0 ? 3
                        : (byte(0) & 0xf8) == 0xf0 ? 4
                                                   : 0;
  char32_t c = length == 1 ? byte(0) : byte(0) & (0x7f >> length);
  bool whole = length > 0 && length <= text.size();
  for (size_t i = 1; whole && i < length; ++i) {
    whole = (byte(i) & 0xc0) == 0x80;
    c = c << 6 | (byte(i) & 0x3f);
  }
  text.remove_prefix(whole ? length : 1);
  return whole ? c : U'\ufffd';
}

// A number, perhaps with a sign, a deviation or a short unit: "-1.5", ".37 ± .01", "12 MB", "3%".
bool IsNumber(std::string_view cell) {
  if (cell.empty() || cell == "-" || cell == "–") return true;
  const size_t start = cell.find_first_not_of("+-.");
  if (start == std::string_view::npos || cell[start] < '0' || cell[start] > '9') return false;
  const size_t letters = std::count_if(cell.begin(), cell.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return letters <= 3;
}

void Append(std::string& line, std::string_view cell, int width, bool right) {
  const std::string padding(width - Columns(cell), ' ');
  if (!line.empty()) line += "  ";
  line += right ? padding + std::string(cell) : std::string(cell) + padding;
}

void Finish(std::string& text, std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
  line.clear();
}

}  // namespace

int Columns(std::string_view text) {
  int columns = 0, last = 0;
  bool joined = false;
  while (!text.empty()) {
    const char32_t c = Next(text);
    if (c == kDrawAsEmoji && last == 1) {
      ++columns;
      last = 2;
    }
    const bool shown = !In(kNone, c);
    if (shown && !joined) {
      last = In(kWide, c) ? 2 : 1;
      columns += last;
    }
    joined = c == kJoiner;
  }
  return columns;
}

std::string Printable(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c < ' ' || c == 0x7f) text[i] = ' ';
    if (c != 0xc2 || i + 1 == text.size()) continue;
    const auto next = static_cast<uint8_t>(text[i + 1]);
    if (next >= 0x80 && next < 0xa0) text[i] = text[i + 1] = ' ';
  }
  return text;
}

TextTable::TextTable(std::vector<std::string> headings) { rows_.push_back(std::move(headings)); }

TextTable& TextTable::Row(std::vector<std::string> cells) {
  cells.resize(rows_[0].size());
  for (std::string& cell : cells) cell = Printable(std::move(cell));
  rows_.push_back(std::move(cells));
  return *this;
}

std::string TextTable::Text() const {
  const size_t columns = rows_[0].size();
  std::vector<int> widths(columns);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], Columns(rows_[r][c]));
      if (r > 0 && !IsNumber(rows_[r][c])) right[c] = false;
    }
  }
  std::string text, line;
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < columns; ++c) Append(line, rows_[r][c], widths[c], right[c]);
    Finish(text, line);
    if (r > 0) continue;
    for (size_t c = 0; c < columns; ++c)
      Append(line, std::string(widths[c], '-'), widths[c], false);
    Finish(text, line);
  }
  return text;
}

}  // namespace crossilo

#include "crossilo/embed/terms.h"

#include <cstdint>

#include "crossilo/data/utf8.h"

namespace crossilo {
namespace {

constexpr char32_t kWrong = 0xfffd;

// The code point at the front of `text`, which loses it.  Overlong forms,
// surrogates and cut sequences give kWrong and lose one byte.
char32_t Next(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  const size_t size = first < 0x80       ? 1
                      : first >> 5 == 6  ? 2
                      : first >> 4 == 14 ? 3
                      : first >> 3 == 30 ? 4
                                         : 0;
  char32_t point = size == 1 ? first : first & (0x7f >> size);
  bool right = size > 0 && size <= text.size();
  for (size_t i = 1; right && i < size; ++i) {
    right = byte(i) >> 6 == 2;
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  right = right && point >= kLeast[size] && point <= 0x10ffff && point >> 11 != 0x1b;
  text.remove_prefix(right ? size : 1);
  return right ? point : kWrong;
}

bool In(char32_t point, char32_t first, char32_t last) { return point >= first && point <= last; }

// Simple case folding (Unicode CaseFolding.txt) for the three bicameral
// scripts in wide use; independent of any locale.
char32_t Lower(char32_t p) {
  if (In(p, 'A', 'Z') || (In(p, 0xc0, 0xde) && p != 0xd7)) return p + 32;
  const bool odd_first = In(p, 0x139, 0x148) || In(p, 0x179, 0x17e);
  if (p == 0x178) return 0xff;
  if (p == 0x130) return 'i';
  if (odd_first) return p + (p & 1);
  if (In(p, 0x100, 0x177) && p != 0x131 && p != 0x138 && p != 0x149) return p | 1;
  if (p == 0x386) return 0x3ac;
  if (In(p, 0x388, 0x38a)) return p + 37;
  if (p == 0x38c) return 0x3cc;
  if (In(p, 0x38e, 0x38f)) return p + 63;
  if (In(p, 0x391, 0x3ab)) return p + 32;
  if (p == 0x3c2) return 0x3c3;  // the final sigma
  if (In(p, 0x400, 0x40f)) return p + 80;
  if (In(p, 0x410, 0x42f)) return p + 32;
  if (In(p, 0x460, 0x481) || In(p, 0x48a, 0x4bf) || In(p, 0x4d0, 0x52f)) return p | 1;
  if (In(p, 0x1e00, 0x1e95) || In(p, 0x1ea0, 0x1eff)) return p | 1;
  if (In(p, 0xff21, 0xff3a)) return p + 32;  // full width
  return p;
}

enum class Sort { kSeparator, kLetter, kIdeograph, kSymbol };

Sort SortOf(char32_t p) {
  if (p < 0x80) {
    return In(p, 'a', 'z') || In(p, '0', '9') ? Sort::kLetter : Sort::kSeparator;
  }
  if (In(p, 0x80, 0xbf)) {
    return p == 0xaa || p == 0xb5 || p == 0xba ? Sort::kLetter : Sort::kSeparator;
  }
  if (p == 0xd7 || p == 0xf7 || p == kWrong) return Sort::kSeparator;
  if (In(p, 0x2000, 0x206f) || In(p, 0x3000, 0x3004) || In(p, 0x3008, 0x3020) ||
      In(p, 0xfe00, 0xfe6f) || In(p, 0xff00, 0xff0f) || In(p, 0xff1a, 0xff20) ||
      In(p, 0xff3b, 0xff40) || In(p, 0xff5b, 0xff65) || p == 0x30fb || p == 0x964 || p == 0x965 ||
      p == 0x60c || p == 0x61b || p == 0x61f || p >= 0xe0000) {
    return Sort::kSeparator;
  }
  if (In(p, 0x3005, 0x3007) || In(p, 0x3040, 0x30ff) || In(p, 0x3400, 0x9fff) ||
      In(p, 0xf900, 0xfaff) || In(p, 0x20000, 0x3ffff)) {
    return Sort::kIdeograph;
  }
  if (In(p, 0x20a0, 0x20cf) || In(p, 0x2100, 0x2bff) || In(p, 0x1f000, 0x1faff)) {
    return Sort::kSymbol;
  }
  return Sort::kLetter;
}

struct Run {
  Sort sort;
  std::u32string points;
};

// Letters and ideographs in runs, symbols one by one.
std::vector<Run> Runs(std::string_view text) {
  std::vector<Run> runs;
  Sort last = Sort::kSeparator;
  while (!text.empty()) {
    const char32_t point = Lower(Next(text));
    const Sort sort = SortOf(point);
    if (sort != Sort::kSeparator) {
      if (sort != last || sort == Sort::kSymbol) runs.push_back({sort, {}});
      runs.back().points += point;
    }
    last = sort;
  }
  return runs;
}

std::string Encode(std::u32string_view points) {
  std::string out;
  for (char32_t point : points) AppendUtf8(point, out);
  return out;
}

}  // namespace

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const Run& run : Runs(text)) {
    if (run.sort != Sort::kIdeograph) {
      words.push_back(Encode(run.points));
      continue;
    }
    for (char32_t point : run.points) words.push_back(Encode({&point, 1}));
  }
  return words;
}

std::vector<std::string> Ngrams(std::string_view text, int shortest, int longest) {
  std::vector<std::string> grams;
  const auto cut = [&](std::u32string_view points, int size) {
    for (size_t start = 0; start + size <= points.size(); ++start) {
      grams.push_back('#' + Encode(points.substr(start, size)));
    }
  };
  for (const Run& run : Runs(text)) {
    if (run.sort == Sort::kIdeograph) cut(run.points, 2);
    if (run.sort != Sort::kLetter) continue;
    for (int size = shortest; size <= longest; ++size) cut(U'_' + run.points + U'_', size);
  }
  return grams;
}

}  // namespace crossilo

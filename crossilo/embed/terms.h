#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// The words of a UTF-8 text in lower case (Latin, Greek, Cyrillic), in order,
// repeats kept.  A word is a run of letters, digits and marks; a Chinese or
// Japanese character and a symbol such as an emoji are words of their own.
// Bytes that are no UTF-8 separate words.
std::vector<std::string> Words(std::string_view text);

// Runs of `shortest` .. `longest` characters inside each word with a _ set
// before and after it, and every pair of neighbouring Chinese or Japanese
// characters.  Each starts with #, which no word does.
std::vector<std::string> Ngrams(std::string_view text, int shortest, int longest);

// Whether a term is one of Ngrams, not of Words.
inline bool IsNgram(std::string_view term) { return term.starts_with('#'); }

}  // namespace crossilo

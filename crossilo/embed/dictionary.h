#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "crossilo/data/embedding.h"
#include "crossilo/embed/near_words.h"

// What words of other languages mean, and words of the embedding's own language
// that are too rare for its vocabulary; for this room only.  AddDictionary of
// fit.h says how it is learnt.
//
// In an embedding it is the setting `languages` (names with commas between) and
//   dictionary_terms     bytes: UTF-8, a term a line; first the own rare words, then
//                        the languages in their order, an empty line after each
//   dictionary_weights   float32, one a term: how much it says
//   dictionary_counts    uint8, one a term: how many words of the vocabulary it stands for
//   dictionary_meanings  int16: those words' numbers, one term's after the other's
//   dictionary_shares    uint8: how much each of them, of 255
namespace crossilo {

class Dictionary {
 public:
  // The embedding's own terms and their numbers.
  using Own = std::unordered_map<std::string, int64_t>;

  static bool IsIn(const Embedding& embedding);
  // Keeps `own`, which must outlive it.  Throws Error on damage.
  Dictionary(const Embedding& embedding, const Own& own);

  // How much each word of the vocabulary is meant by a text; empty where the
  // text is best taken as it stands: it is in the own language, or in none.
  //
  // A text is in the language that knows most of its words, so that "train" is
  // one on rails and "train qui sourit" French.  The own language wins a tie,
  // and its rare words count as known, so that the texts it was fitted on stay
  // as they are; only a text of nothing but rare words has their meanings.
  // Other languages that are even all have their say ("gato", "burro").  Where
  // nobody knows a single word, the words' spelling decides.  In the language
  // that was found, a word it does not know has its meaning from the own
  // language, else from those that are spelt most like it.
  std::map<int64_t, double> Translate(const std::string& text) const;

 private:
  struct Language {
    std::vector<int64_t> words;      // numbers of its terms that are words
    std::vector<Spelling> spelling;  // of each of them
  };
  using Counts = std::map<std::string, double>;  // a text's terms

  void Read(const Embedding& embedding);
  std::vector<size_t> Speakers(const Counts& words) const;
  std::vector<size_t> Guess(const Counts& words) const;
  int64_t Find(const std::string& term, size_t language) const;  // -1: not there
  void Add(int64_t term, double times, std::map<int64_t, double>& meant) const;
  std::map<int64_t, double> Meant(const Counts& words, const Counts& pairs, size_t language) const;

  const Own& own_;
  std::vector<Spelling> own_spelling_;
  std::vector<Language> languages_;  // the first: the own rare words
  // Term -> (language, number), languages in order.  Looked up, never walked.
  std::unordered_map<std::string, std::vector<std::pair<size_t, int64_t>>> known_by_;
  std::vector<int64_t> starts_;  // of each term's meanings, and the end
  torch::Tensor weights_, meanings_, shares_, own_weights_;
};

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Words spelt almost alike: inflections, missing accents, slips; for this room
// only.
namespace crossilo {

// Of the emoji's languages a lower one is right too rarely, a higher one leaves
// more words without a meaning; bench/README.md has the numbers.
constexpr double kLeastLikeness = 0.4;

// A word's runs of three letters, its ends marked, as a set.
class Spelling {
 public:
  explicit Spelling(const std::string& word);
  // Dice's coefficient of the two sets, 1 where they are equal; 0 where it is
  // below kLeastLikeness.
  double Likeness(const Spelling& other) const;

 private:
  std::vector<uint32_t> runs_;  // hashes, sorted, each once
  uint64_t marks_ = 0;          // bit (hash mod 64) of each
};

struct NearWord {
  double likeness;  // kLeastLikeness .. 1
  int64_t number;   // of the word
};

// The three words most like `word`, best first, ties by number.
std::vector<NearWord> Nearest(const Spelling& word, const std::vector<Spelling>& among);

}  // namespace crossilo

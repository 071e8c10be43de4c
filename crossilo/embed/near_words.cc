#include "crossilo/embed/near_words.h"

#include <algorithm>
#include <bit>

#include "crossilo/embed/terms.h"

namespace crossilo {
namespace {

constexpr size_t kMostNear = 3;

// FNV-1a: the same on every machine, unlike std::hash.
uint32_t Hash(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 16777619u;
  return hash;
}

}  // namespace

Spelling::Spelling(const std::string& word) {
  for (const std::string& run : Ngrams(word, 3, 3)) runs_.push_back(Hash(run));
  std::sort(runs_.begin(), runs_.end());
  runs_.erase(std::unique(runs_.begin(), runs_.end()), runs_.end());
  for (const uint32_t run : runs_) marks_ |= uint64_t{1} << (run % 64);
}

double Spelling::Likeness(const Spelling& other) const {
  const size_t both = runs_.size() + other.runs_.size();
  // A mark that only one has stands for a run that the other lacks, which
  // rules out most words without looking at their runs.
  const size_t most = runs_.size() - std::popcount(marks_ & ~other.marks_);
  if (both == 0 || 2 * static_cast<double>(most) < kLeastLikeness * static_cast<double>(both)) {
    return 0;
  }
  size_t shared = 0;
  for (auto a = runs_.begin(), b = other.runs_.begin();
       a != runs_.end() && b != other.runs_.end();) {
    if (*a == *b) ++shared;
    const bool next_a = *a <= *b, next_b = *b <= *a;
    a += next_a;
    b += next_b;
  }
  const double likeness = 2 * static_cast<double>(shared) / static_cast<double>(both);
  return likeness < kLeastLikeness ? 0 : likeness;
}

std::vector<NearWord> Nearest(const Spelling& word, const std::vector<Spelling>& among) {
  std::vector<NearWord> near;
  for (size_t i = 0; i < among.size(); ++i) {
    const double likeness = word.Likeness(among[i]);
    if (likeness > 0) near.push_back({likeness, static_cast<int64_t>(i)});
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const NearWord& a, const NearWord& b) { return a.likeness > b.likeness; });
  near.resize(std::min(near.size(), kMostNear));
  return near;
}

}  // namespace crossilo

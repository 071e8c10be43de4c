#include "crossilo/embed/dictionary.h"

#include <algorithm>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/embed/settings.h"
#include "crossilo/embed/terms.h"

namespace crossilo {
namespace {

constexpr size_t kOwn = 0;  // the own language's rare words

// Words looked for by their spelling, which costs a pass over a language; more
// say little, and a query may be of any length.
constexpr int kMostGuessed = 32;

// An own word inside a text of another language, against a word of that
// language, whose meaning is spread over several of the own.
constexpr double kOwnWord = 0.5;

std::map<std::string, double> Count(const std::vector<std::string>& terms) {
  std::map<std::string, double> counts;
  for (const std::string& term : terms) ++counts[term];
  return counts;
}

// Which languages have the highest score, if it is above the own one's, which
// is not among them.
std::vector<size_t> Above(double own, const std::vector<double>& scores) {
  std::vector<size_t> best;
  const double highest = *std::max_element(scores.begin() + 1, scores.end());
  for (size_t i = 1; i < scores.size() && highest > own; ++i) {
    if (scores[i] == highest) best.push_back(i);
  }
  return best;
}

[[noreturn]] void Damaged() {
  throw Error("the tfidf embedding's dictionary is damaged; make the dataset or bundle again");
}

}  // namespace

bool Dictionary::IsIn(const Embedding& embedding) {
  return embedding.settings.contains("languages");
}

Dictionary::Dictionary(const Embedding& embedding, const Own& own) : own_(own) {
  Read(embedding);
  const auto terms = weights_.size(0), meanings = meanings_.size(0);
  const torch::Tensor counts = Fitted(embedding, "dictionary_counts", torch::kByte, {terms});
  starts_.push_back(0);
  for (int64_t i = 0; i < terms; ++i) {
    starts_.push_back(starts_.back() + counts.data_ptr<uint8_t>()[i]);
  }
  const int16_t* numbers = meanings_.data_ptr<int16_t>();
  const auto in_own = [&](int64_t number) {
    return number >= 0 && number < static_cast<int64_t>(own.size());
  };
  if (starts_.back() != meanings || !std::all_of(numbers, numbers + meanings, in_own)) Damaged();
  for (const auto& [term, number] : own) {  // in any order: only the likest counts
    if (!IsNgram(term)) own_spelling_.emplace_back(term);
  }
}

void Dictionary::Read(const Embedding& embedding) {
  const std::string names = Setting(embedding, "languages");
  const size_t languages = 2 + std::count(names.begin(), names.end(), ',');
  const std::vector<std::string> lines = FittedLines(embedding, "dictionary_terms");
  const auto terms = static_cast<int64_t>(lines.size()) - static_cast<int64_t>(languages);
  weights_ = Fitted(embedding, "dictionary_weights", torch::kFloat, {terms});
  meanings_ = Fitted(embedding, "dictionary_meanings", torch::kShort, {-1});
  shares_ = Fitted(embedding, "dictionary_shares", torch::kByte, {meanings_.size(0)});
  own_weights_ = Fitted(embedding, "weights", torch::kFloat, {static_cast<int64_t>(own_.size())});
  std::vector<std::vector<std::string>> words(languages);
  languages_.resize(languages);
  int64_t number = 0;
  size_t at = 0;
  for (const std::string& line : lines) {
    if (at == languages) Damaged();
    if (line.empty()) {
      ++at;
      continue;
    }
    known_by_[line].emplace_back(at, number);
    if (!IsNgram(line)) {
      languages_[at].words.push_back(number);
      words[at].push_back(line);
    }
    ++number;
  }
  const auto sound = [](const torch::Tensor& weights) {
    return (weights.isfinite() & (weights >= 0)).all().item<bool>();
  };
  if (at != languages || !sound(weights_) || !sound(1 / own_weights_)) Damaged();
  ForEach(static_cast<int64_t>(languages), [&](int64_t i) {
    for (const std::string& word : words[i]) languages_[i].spelling.emplace_back(word);
  });
}

int64_t Dictionary::Find(const std::string& term, size_t language) const {
  const auto found = known_by_.find(term);
  if (found == known_by_.end()) return -1;
  for (const auto& [who, number] : found->second) {
    if (who == language) return number;
  }
  return -1;
}

std::vector<size_t> Dictionary::Speakers(const Counts& words) const {
  std::vector<double> known(languages_.size());
  double own = 0;
  for (const auto& [word, count] : words) {
    own += own_.contains(word);
    const auto found = known_by_.find(word);
    if (found == known_by_.end()) continue;
    for (const auto& [language, number] : found->second) ++known[language];
  }
  if (own == 0 && *std::max_element(known.begin(), known.end()) == 0) return Guess(words);
  std::vector<size_t> others = Above(own + known[kOwn], known);
  if (own == 0 && others.empty()) return {kOwn};
  return others;
}

std::vector<size_t> Dictionary::Guess(const Counts& words) const {
  std::vector<double> likeness(languages_.size());
  double own = 0;
  int left = kMostGuessed;
  const auto best = [](const Spelling& word, const std::vector<Spelling>& among) {
    const std::vector<NearWord> near = Nearest(word, among);
    return near.empty() ? 0 : near.front().likeness;
  };
  for (auto word = words.begin(); word != words.end() && left > 0; ++word, --left) {
    const Spelling spelling(word->first);
    own += std::max(best(spelling, own_spelling_), best(spelling, languages_[kOwn].spelling));
    for (size_t i = 1; i < languages_.size(); ++i) {
      likeness[i] += best(spelling, languages_[i].spelling);
    }
  }
  return Above(own, likeness);
}

void Dictionary::Add(int64_t term, double times, std::map<int64_t, double>& meant) const {
  const double weight = times * weights_.data_ptr<float>()[term] / 255;
  for (int64_t i = starts_[term]; i < starts_[term + 1]; ++i) {
    meant[meanings_.data_ptr<int16_t>()[i]] += weight * shares_.data_ptr<uint8_t>()[i];
  }
}

std::map<int64_t, double> Dictionary::Meant(const Counts& words, const Counts& pairs,
                                            size_t language) const {
  std::map<int64_t, double> meant;
  int left = kMostGuessed;
  for (const auto& [word, count] : words) {
    const double times = 1 + std::log(count);
    const int64_t term = Find(word, language);
    const auto own = own_.find(word);
    if (term >= 0) {
      Add(term, times, meant);
    } else if (own != own_.end()) {
      meant[own->second] += kOwnWord * times * own_weights_.data_ptr<float>()[own->second];
    } else if (left-- > 0) {
      const auto near = Nearest(Spelling(word), languages_[language].spelling);
      for (const NearWord& one : near) {
        Add(languages_[language].words[one.number],
            times * one.likeness / static_cast<double>(near.size()), meant);
      }
    }
  }
  for (const auto& [pair, count] : pairs) {
    const int64_t term = Find(pair, language);
    if (term >= 0) Add(term, 1 + std::log(count), meant);
  }
  return meant;
}

std::map<int64_t, double> Dictionary::Translate(const std::string& text) const {
  const Counts words = Count(Words(text));
  // Shortest above longest: none but the pairs of Chinese and Japanese characters.
  const Counts pairs = Count(Ngrams(text, 1, 0));
  std::map<int64_t, double> all;
  for (const size_t language : Speakers(words)) {
    const auto meant = Meant(words, pairs, language);
    double square = 0;
    for (const auto& [word, weight] : meant) square += weight * weight;
    if (square == 0) continue;
    for (const auto& [word, weight] : meant) all[word] += weight / std::sqrt(square);
  }
  return all;
}

}  // namespace crossilo

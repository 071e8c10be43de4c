// Learns what foreign words mean from texts that say the same in two languages.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "crossilo/base/error.h"
#include "crossilo/embed/dictionary.h"
#include "crossilo/embed/fit.h"
#include "crossilo/embed/regression.h"
#include "crossilo/embed/settings.h"
#include "crossilo/embed/terms.h"

namespace crossilo {
namespace {

// Enough texts to learn from; the regression's cost grows with the cube.
constexpr size_t kMostTexts = 4096;
constexpr double kPairWeight = 0.5;  // of two characters against a word

using Pair = std::pair<std::string, std::string>;  // own text, translation

// Terms of one language by number; texts become tf-idf rows of length 1.
struct Space {
  std::map<std::string, int64_t> number;
  std::vector<float> weights;

  SparseRow Row(const std::vector<std::string>& terms) const {
    SparseRow row;
    for (const std::string& term : terms) {
      const auto found = number.find(term);
      if (found != number.end()) row[found->second] += 1;
    }
    double square = 0;
    for (auto& [term, value] : row) {
      value = (1 + std::log(value)) * weights[term];
      square += value * value;
    }
    for (auto& [term, value] : row) value /= std::sqrt(square);
    return row;
  }
};

std::vector<std::string> ForeignTerms(const std::string& text) {
  std::vector<std::string> terms = Words(text);
  for (std::string& pair : Ngrams(text, 1, 0)) terms.push_back(std::move(pair));
  return terms;
}

// All words, and the pairs of characters that stand in two texts at least.
Space ForeignSpace(const std::vector<std::vector<std::string>>& texts) {
  std::map<std::string, int64_t> df;
  for (const auto& terms : texts) {
    for (const std::string& term : std::set<std::string>(terms.begin(), terms.end())) ++df[term];
  }
  Space space;
  for (const auto& [term, count] : df) {
    if (IsNgram(term) && count < 2) continue;
    const double rarity =
        (1.0 + static_cast<double>(texts.size())) / (1.0 + static_cast<double>(count));
    space.number.emplace(term, static_cast<int64_t>(space.weights.size()));
    space.weights.push_back(
        static_cast<float>((IsNgram(term) ? kPairWeight : 1) * (1 + std::log(rarity))));
  }
  return space;
}

// The embedding's words without its n-grams, numbered by themselves.
struct OwnWords {
  Space space;
  std::vector<int64_t> in_vocabulary;  // the number that each has there

  explicit OwnWords(const Embedding& tfidf) {
    const std::vector<std::string> terms = FittedLines(tfidf, "vocabulary");
    const torch::Tensor weights =
        Fitted(tfidf, "weights", torch::kFloat, {static_cast<int64_t>(terms.size())});
    if (terms.size() > INT16_MAX) {
      throw Error("a dictionary needs a vocabulary of {} terms at most, not {}", INT16_MAX,
                  terms.size());
    }
    for (size_t i = 0; i < terms.size(); ++i) {
      if (IsNgram(terms[i])) continue;
      space.number.emplace(terms[i], static_cast<int64_t>(in_vocabulary.size()));
      space.weights.push_back(weights.data_ptr<float>()[i]);
      in_vocabulary.push_back(static_cast<int64_t>(i));
    }
  }

  // The text without the words of the vocabulary.
  std::string RareIn(const std::string& text) const {
    std::string rare;
    for (const std::string& word : Words(text)) {
      if (!space.number.contains(word)) rare += word + " ";
    }
    return rare;
  }
};

// Distinct pairs, some of them, evenly spaced, where there are too many.
std::vector<Pair> Distinct(const std::vector<std::string>& texts,
                           const std::vector<std::string>& translated) {
  std::set<Pair> distinct;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!translated[i].empty()) distinct.emplace(texts[i], translated[i]);
  }
  const size_t step = (distinct.size() + kMostTexts - 1) / kMostTexts;
  std::vector<Pair> pairs;
  size_t i = 0;
  for (const Pair& pair : distinct) {
    if (i++ % step == 0) pairs.push_back(pair);
  }
  return pairs;
}

// The dictionary's tensors while they grow.
struct Tables {
  std::vector<std::string> lines;
  std::vector<float> weights;
  std::vector<uint8_t> counts, shares;
  std::vector<int16_t> meanings;

  // One foreign term: its weight in a text and its row of the regression.
  void Add(float weight, const std::vector<double>& row, const OwnWords& own,
           const DictionaryOptions& o) {
    std::vector<size_t> order(own.in_vocabulary.size());
    std::iota(order.begin(), order.end(), 0);
    const size_t most = std::min<size_t>(order.size(), o.meanings);
    std::partial_sort(order.begin(), order.begin() + most, order.end(), [&](size_t a, size_t b) {
      return row[a] != row[b] ? row[a] > row[b] : a < b;
    });
    const double strongest = most > 0 ? std::max(row[order[0]], 0.0) : 0;
    uint8_t count = 0;
    for (size_t i = 0; i < most && strongest > 0 && row[order[i]] >= o.least * strongest; ++i) {
      meanings.push_back(static_cast<int16_t>(own.in_vocabulary[order[i]]));
      shares.push_back(static_cast<uint8_t>(std::lround(255 * row[order[i]] / strongest)));
      ++count;
    }
    weights.push_back(static_cast<float>(weight * strongest));
    counts.push_back(count);
  }
};

void Learn(const std::vector<Pair>& pairs, const OwnWords& own, const DictionaryOptions& options,
           Tables& tables) {
  std::vector<std::vector<std::string>> texts;
  for (const auto& [text, translated] : pairs) texts.push_back(ForeignTerms(translated));
  const Space foreign = ForeignSpace(texts);
  std::vector<SparseRow> x, y;
  for (size_t i = 0; i < pairs.size(); ++i) {
    x.push_back(foreign.Row(texts[i]));
    y.push_back(own.space.Row(Words(pairs[i].first)));
  }
  if (!foreign.number.empty()) {
    const RidgeRegression learnt(x, static_cast<int64_t>(foreign.weights.size()), y,
                                 static_cast<int64_t>(own.in_vocabulary.size()), options.ridge);
    for (const auto& [term, number] : foreign.number) {
      tables.lines.push_back(term);
      tables.Add(foreign.weights[number], learnt.Row(number), own, options);
    }
  }
  tables.lines.emplace_back();
}

void CheckLanguage(const std::string& name, size_t size, size_t texts) {
  const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
    return letter == '-' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9');
  });
  if (!good) throw Error("'{}' names no language; use letters, digits and -", name);
  if (size != texts) throw Error("{}: {} translations of {} texts", name, size, texts);
}

}  // namespace

void AddDictionary(const std::vector<std::string>& texts, const Translations& translations,
                   Embedding& tfidf, const DictionaryOptions& options) {
  if (tfidf.kind != "tfidf") {
    throw Error("a dictionary goes with the embedder tfidf, not with {}", tfidf.kind);
  }
  if (options.meanings < 1 || options.meanings > 255 || !(options.ridge > 0) ||
      !(options.least > 0)) {
    throw Error("a dictionary has 1 to 255 meanings a word; ridge and least are above 0");
  }
  if (translations.empty()) return;
  const OwnWords own(tfidf);
  Tables tables;
  std::vector<std::string> rare;
  for (const std::string& text : texts) rare.push_back(own.RareIn(text));
  Learn(Distinct(texts, rare), own, options, tables);
  std::string names;
  for (const auto& [language, translated] : translations) {
    CheckLanguage(language, translated.size(), texts.size());
    names += (names.empty() ? "" : ",") + language;
    Learn(Distinct(texts, translated), own, options, tables);
  }
  tfidf.settings["languages"] = names;
  tfidf.tensors["dictionary_terms"] = Lines(tables.lines);
  tfidf.tensors["dictionary_weights"] = torch::tensor(tables.weights);
  tfidf.tensors["dictionary_counts"] = torch::tensor(tables.counts);
  tfidf.tensors["dictionary_meanings"] = torch::tensor(tables.meanings);
  tfidf.tensors["dictionary_shares"] = torch::tensor(tables.shares);
}

}  // namespace crossilo

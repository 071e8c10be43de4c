// Words and character n-grams weighted by TF-IDF, with the vocabulary stored,
// so that any text can become a feature later.
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/embed/dictionary.h"
#include "crossilo/embed/fit.h"
#include "crossilo/embed/kinds.h"
#include "crossilo/embed/projection.h"
#include "crossilo/embed/settings.h"
#include "crossilo/embed/terms.h"

namespace crossilo {
namespace {

// Enough texts to find the directions; more only cost memory.
constexpr size_t kMostForSvd = 20000;

std::vector<std::string> TermsOf(const std::string& text, int shortest, int longest) {
  std::vector<std::string> terms = Words(text);
  for (std::string& gram : Ngrams(text, shortest, longest)) terms.push_back(std::move(gram));
  return terms;
}

// The `most` terms of one sort that stand in most texts; alphabet breaks ties.
void Keep(const std::map<std::string, int64_t>& df, bool ngrams, int64_t most, int64_t min_df,
          std::set<std::string>& kept) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [term, count] : df) {
    if (IsNgram(term) == ngrams && count >= min_df) order.emplace_back(-count, term);
  }
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < most && i < static_cast<int64_t>(order.size()); ++i) {
    kept.insert(order[i].second);
  }
}

class Tfidf : public WordEmbedder {
 public:
  explicit Tfidf(const Embedding& embedding)
      : embedding_(embedding),
        shortest_(static_cast<int>(WholeSetting(embedding, "ngram_min", 1, 16))),
        longest_(static_cast<int>(WholeSetting(embedding, "ngram_max", 0, 16))),
        terms_(FittedLines(embedding, "vocabulary")) {
    for (const std::string& term : terms_) {
      const auto number = static_cast<int64_t>(number_.size());
      number_.emplace(term, number);
    }
    // A term that stands there twice makes this one too short.
    weights_ = Fitted(embedding, "weights", torch::kFloat, {static_cast<int64_t>(number_.size())});
    if (embedding.tensors.contains("basis")) {
      basis_ = Fitted(embedding, "basis", torch::kFloat, {weights_.size(0), -1});
    }
    if (Dictionary::IsIn(embedding)) dictionary_.emplace(embedding, number_);
  }

  torch::Tensor Embed(const std::vector<std::string>& texts) const override {
    torch::Tensor out = torch::zeros({static_cast<int64_t>(texts.size()), dims()});
    float* data = out.data_ptr<float>();
    ForEach(out.size(0), [&](int64_t i) {
      float* row = data + i * dims();
      if (!basis_.defined()) return Weigh(texts[i], row);
      std::vector<float> full(weights_.size(0));
      Weigh(texts[i], full.data());
      Project(full.data(), basis_, row);
    });
    return out;
  }

  Embedding Describe() const override { return embedding_; }
  int64_t dims() const override { return basis_.defined() ? basis_.size(1) : weights_.size(0); }

 private:
  // A row of zeros becomes the text's weights, of length 1 if any.
  void Weigh(const std::string& text, float* row) const {
    if (!dictionary_ || !Translate(text, row)) Count(text, row);
    double square = 0;
    for (int64_t i = 0; i < weights_.size(0); ++i) square += static_cast<double>(row[i]) * row[i];
    if (square == 0) return;
    const auto length = static_cast<float>(std::sqrt(square));
    for (int64_t i = 0; i < weights_.size(0); ++i) row[i] /= length;
  }

  void Count(const std::string& text, float* row) const {
    for (const std::string& term : TermsOf(text, shortest_, longest_)) {
      const auto found = number_.find(term);
      if (found != number_.end()) row[found->second] += 1;
    }
    const float* weights = weights_.data_ptr<float>();
    for (int64_t i = 0; i < weights_.size(0); ++i) {
      if (row[i] > 0) row[i] = (1 + std::log(row[i])) * weights[i];
    }
  }

  // The own words that are meant, each with its n-grams as in a text of its
  // own; false where the text is in no other language.
  bool Translate(const std::string& text, float* row) const {
    const auto meant = dictionary_->Translate(text);
    const float* weights = weights_.data_ptr<float>();
    for (const auto& [word, weight] : meant) {
      for (const std::string& term : TermsOf(terms_[word], shortest_, longest_)) {
        const auto found = number_.find(term);
        if (found == number_.end()) continue;
        row[found->second] += static_cast<float>(weight) * weights[found->second] / weights[word];
      }
    }
    return !meant.empty();
  }

  Embedding embedding_;
  int shortest_, longest_;
  std::vector<std::string> terms_;
  std::unordered_map<std::string, int64_t> number_;  // of terms_; looked up, never walked
  torch::Tensor weights_, basis_;
  std::optional<Dictionary> dictionary_;  // refers to number_
};

void CheckOptions(const TfidfOptions& options) {
  if (options.ngram_min < 1 || options.ngram_max > 16 || options.max_words < 0 ||
      options.max_ngrams < 0 || options.dims < 0 || !(options.ngram_weight > 0)) {
    throw Error(
        "tfidf: n-grams must have 1 to 16 letters, sizes must not be negative and the "
        "n-grams' weight must be above 0");
  }
}

std::map<std::string, int64_t> DocumentFrequency(const std::set<std::string>& texts,
                                                 const TfidfOptions& options) {
  std::map<std::string, int64_t> df;
  for (const std::string& text : texts) {
    const auto terms =
        TermsOf(text, static_cast<int>(options.ngram_min), static_cast<int>(options.ngram_max));
    for (const std::string& term : std::set<std::string>(terms.begin(), terms.end())) ++df[term];
  }
  return df;
}

// Some texts, evenly spaced, as features.
torch::Tensor Sample(const std::set<std::string>& texts, const Embedding& embedding) {
  const size_t step = (texts.size() + kMostForSvd - 1) / kMostForSvd;
  std::vector<std::string> sample;
  size_t i = 0;
  for (const std::string& text : texts) {
    if (i++ % step == 0) sample.push_back(text);
  }
  return Tfidf(embedding).Embed(sample);
}

}  // namespace

Embedding FitTfidf(const std::vector<std::string>& texts, const TfidfOptions& options) {
  CheckOptions(options);
  // A text that several pictures share counts once.
  const std::set<std::string> distinct(texts.begin(), texts.end());
  const auto df = DocumentFrequency(distinct, options);
  std::set<std::string> kept;
  Keep(df, false, options.max_words, options.min_df, kept);
  Keep(df, true, options.max_ngrams, options.min_df, kept);
  if (kept.empty()) {
    throw Error("no word stands in {} of the {} different texts; lower min_df or add texts",
                options.min_df, distinct.size());
  }
  std::vector<float> weights;
  for (const std::string& term : kept) {
    const double rarity =
        (1.0 + static_cast<double>(distinct.size())) / (1.0 + static_cast<double>(df.at(term)));
    weights.push_back(
        static_cast<float>((IsNgram(term) ? options.ngram_weight : 1) * (1 + std::log(rarity))));
  }
  Embedding embedding{
      "tfidf",
      {{"ngram_min", std::to_string(options.ngram_min)},
       {"ngram_max", std::to_string(options.max_ngrams > 0 ? options.ngram_max : 0)}},
      {{"vocabulary", Lines({kept.begin(), kept.end()})}, {"weights", torch::tensor(weights)}}};
  if (options.dims > 0) {
    const torch::Tensor sample = Sample(distinct, embedding);
    const torch::Tensor basis = FitSvd(sample, options.dims);
    const double square = sample.mm(basis).square().mean().item<double>();
    embedding.tensors["basis"] = basis / std::sqrt(square);
  }
  return embedding;
}

std::unique_ptr<WordEmbedder> MakeTfidf(const Embedding& embedding, const Folders&) {
  return std::make_unique<Tfidf>(embedding);
}

}  // namespace crossilo

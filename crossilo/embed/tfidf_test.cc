#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/embed/fit.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TfidfOptions WordsOnly() {
  TfidfOptions options;
  options.max_ngrams = 0;
  options.min_df = 1;
  return options;
}

TEST(Tfidf, WeightsAreThoseWorkedByHand) {
  // Three different texts (the repeated one counts once); vocabulary in order
  // cat (df 2), dog (df 2), red (df 1).
  const Embedding embedding = FitTfidf({"cat dog", "Dog", "red cat", "red cat"}, WordsOnly());
  const auto embedder = MakeWordEmbedder(embedding);
  ASSERT_EQ(embedder->dims(), 3);
  const torch::Tensor row = embedder->Embed({"A cat, a CAT: red!"})[0];
  // cat: (1 + ln 2)(1 + ln 4/3), red: 1 (1 + ln 4/2), then length 1.
  const double cat = (1 + std::log(2)) * (1 + std::log(4.0 / 3)), red = 1 + std::log(2);
  const double length = std::sqrt(cat * cat + red * red);
  EXPECT_NEAR(row[0].item<double>(), cat / length, 1e-6);
  EXPECT_EQ(row[1].item<double>(), 0);
  EXPECT_NEAR(row[2].item<double>(), red / length, 1e-6);
}

TEST(Tfidf, UnknownWordsGiveZerosAndNgramsKnowTheirParts) {
  TfidfOptions options = WordsOnly();
  const std::vector<std::string> texts = {"smiling cat", "grinning dog", "笑う猫"};
  const auto words = MakeWordEmbedder(FitTfidf(texts, options));
  EXPECT_EQ(words->Embed({"smile 走る"}).abs().sum().item<double>(), 0);
  options.max_ngrams = 1000;
  const auto grams = MakeWordEmbedder(FitTfidf(texts, options));
  const torch::Tensor all = grams->Embed(texts);
  const torch::Tensor close = all.mv(grams->Embed({"smile"})[0]);
  EXPECT_EQ(close.argmax().item<int64_t>(), 0);
  EXPECT_GT(close[0].item<double>(), 0.1);
  EXPECT_EQ(all.mv(grams->Embed({"猫"})[0]).argmax().item<int64_t>(), 2);
}

TEST(Tfidf, TheMostFrequentTermsAreKept) {
  TfidfOptions options = WordsOnly();
  options.max_words = 2;
  const std::vector<std::string> texts = {"b a", "b c", "b c d", "e"};
  const auto two = MakeWordEmbedder(FitTfidf(texts, options));
  EXPECT_EQ(two->dims(), 2);  // b and c
  EXPECT_EQ(two->Embed({"a d e"}).abs().sum().item<double>(), 0);
  options = WordsOnly();
  options.min_df = 3;
  EXPECT_EQ(MakeWordEmbedder(FitTfidf(texts, options))->dims(), 1);
  options.min_df = 4;
  EXPECT_THAT([&] { FitTfidf(texts, options); }, ThrowsMessage<Error>(HasSubstr("min_df")));
}

TEST(Tfidf, ProjectionKeepsTheAnglesAndGivesMeanSquareOne) {
  std::vector<std::string> texts;
  Random random(4);
  for (int i = 0; i < 40; ++i) {
    std::string text = std::to_string(i);
    for (int w = 0; w < 5; ++w) text += " w" + std::to_string(random.Below(30));
    texts.push_back(text);
  }
  TfidfOptions options = WordsOnly();
  const auto full = MakeWordEmbedder(FitTfidf(texts, options))->Embed(texts);
  options.dims = 40;  // as many as texts: nothing is lost but the scale
  const auto embedder = MakeWordEmbedder(FitTfidf(texts, options));
  const torch::Tensor small = embedder->Embed(texts);
  EXPECT_EQ(small.size(1), 40);
  EXPECT_NEAR(small.square().mean().item<double>(), 1, 1e-3);
  EXPECT_TRUE(torch::allclose(small.mm(small.t()) / 40, full.mm(full.t()), 1e-2, 1e-2));
  EXPECT_TRUE(torch::equal(embedder->Embed({texts[7]})[0], small[7]));
  EXPECT_EQ(embedder->Embed({"nothing known"}).abs().sum().item<double>(), 0);
  EXPECT_EQ(FitTfidf(texts, options).Fingerprint(), FitTfidf(texts, options).Fingerprint());
}

TEST(Tfidf, ADamagedEmbeddingIsRefused) {
  TfidfOptions options = WordsOnly();
  options.dims = 2;
  const Embedding whole = FitTfidf({"a b c", "b c", "c"}, options);
  const auto refuses = [](const Embedding& embedding) {
    EXPECT_THROW(MakeWordEmbedder(embedding), Error);
  };
  Embedding open_ended = whole;
  open_ended.tensors["vocabulary"] = whole.tensors.at("vocabulary").clone();
  open_ended.tensors["vocabulary"][-1] = 'x';  // was the last line's end
  refuses(open_ended);
  Embedding empty = whole;
  empty.tensors["vocabulary"] = torch::zeros({0}, torch::kByte);
  empty.tensors["weights"] = torch::zeros({0});
  refuses(empty);
  for (const char* name : {"vocabulary", "weights", "basis"}) {
    Embedding wrong = whole;
    wrong.tensors[name] = torch::zeros({5, 5, 5});
    refuses(wrong);
  }
  for (const char* value : {"", "x", "-1", "99", "nan", "2.5"}) {
    Embedding wrong = whole;
    wrong.settings["ngram_max"] = value;
    refuses(wrong);
  }
  MakeWordEmbedder(whole);
}

}  // namespace
}  // namespace crossilo

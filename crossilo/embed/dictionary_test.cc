#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/random.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/embed/fit.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<std::string> kTexts = {"smiling cat", "sad cat",    "smiling dog",
                                         "sad dog",     "red train",  "red table",
                                         "blue train",  "blue table", "green zebra"};
const Translations kOthers = {
    {"es",
     {"gato sonriente", "gato triste", "perro sonriente", "perro triste", "tren rojo", "mesa roja",
      "tren azul", "mesa azul", ""}},
    {"fr",
     {"chat qui sourit", "chat qui pleure", "chien qui sourit", "chien qui pleure",
      "train qui est rouge", "table qui est rouge", "train qui est bleu", "table qui est bleue",
      "zèbre vert"}},
    {"zh",
     {"微笑的猫", "悲伤的猫", "微笑的狗", "悲伤的狗", "红色的火车", "红色的桌子", "蓝色的火车",
      "蓝色的桌子", "绿色的斑马"}},
};

Embedding Own() {
  TfidfOptions options;
  options.max_ngrams = 0;
  return FitTfidf(kTexts, options);  // green and zebra stand in one text only: rare
}

Embedding Taught() {
  Embedding embedding = Own();
  AddDictionary(kTexts, kOthers, embedding);
  return embedding;
}

// The text that a query's embedding is nearest to; -1 for zeros.
int64_t Means(const WordEmbedder& embedder, const std::string& query) {
  const torch::Tensor all = MakeWordEmbedder(Own())->Embed(kTexts);
  const torch::Tensor close = all.mv(embedder.Embed({query})[0]);
  return close.max().item<double>() > 0 ? close.argmax().item<int64_t>() : -1;
}

TEST(Dictionary, WordsOfOtherLanguagesFindTheSameTexts) {
  const auto embedder = MakeWordEmbedder(Taught());
  const auto alone = MakeWordEmbedder(Own());
  for (const auto& [language, texts] : kOthers) {
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(Means(*embedder, texts[i]), static_cast<int64_t>(i)) << texts[i];
    }
  }
  EXPECT_EQ(Means(*alone, "gato sonriente"), -1);
  EXPECT_EQ(Means(*embedder, "猫"), Means(*alone, "cat"));
  EXPECT_EQ(Means(*embedder, "Chien TRISTE"), 3);  // a tie, in which both have a say
}

TEST(Dictionary, ARowHasLengthOneAndWordsThatStandEverywhereSayNothing) {
  const auto embedder = MakeWordEmbedder(Taught());
  const torch::Tensor with = embedder->Embed({"chien qui sourit"})[0];
  EXPECT_NEAR(with.norm().item<double>(), 1, 1e-6);
  // "qui" is in 8 of 9 texts: without it the meaning is nearly the same.
  EXPECT_GT(with.dot(embedder->Embed({"chien sourit"})[0]).item<double>(), 0.97);
}

TEST(Dictionary, TheOwnLanguageWinsATieAndLosesToMoreKnownWords) {
  const auto embedder = MakeWordEmbedder(Taught()), alone = MakeWordEmbedder(Own());
  for (const char* own : {"train", "table", "train table", "smiling train", "cat gato"}) {
    EXPECT_TRUE(torch::equal(embedder->Embed({own}), alone->Embed({own}))) << own;
  }
  // French knows both words, English one.
  EXPECT_EQ(Means(*embedder, "table rouge"), 5);
  EXPECT_FALSE(torch::equal(embedder->Embed({"table rouge"}), alone->Embed({"table rouge"})));
  // An own word that the other language does not know keeps its meaning.
  EXPECT_EQ(Means(*embedder, "chien qui sad"), 3);
}

TEST(Dictionary, TextsItWasFittedOnStayAsTheyAre) {
  const auto embedder = MakeWordEmbedder(Taught()), alone = MakeWordEmbedder(Own());
  EXPECT_TRUE(torch::equal(embedder->Embed(kTexts), alone->Embed(kTexts)));
}

TEST(Dictionary, ARareOwnWordMeansWhatStoodBesideIt) {
  std::vector<std::string> texts = kTexts;
  texts[1] = "sad tomcat cat";
  Embedding embedding = FitTfidf(texts, {.max_ngrams = 0});
  EXPECT_EQ(MakeWordEmbedder(embedding)->Embed({"tomcat"}).norm().item<double>(), 0);
  AddDictionary(texts, kOthers, embedding);
  EXPECT_EQ(Means(*MakeWordEmbedder(embedding), "tomcat"), 1);
}

TEST(Dictionary, InflectedWordsAreFoundByTheirSpelling) {
  const auto embedder = MakeWordEmbedder(Taught());
  EXPECT_EQ(Means(*embedder, "gatos sonrientes"), 0);  // nobody knows either word
  EXPECT_EQ(Means(*embedder, "perro sonrientes"), 2);
  EXPECT_EQ(Means(*embedder, "xyzzy"), -1);
  EXPECT_EQ(Means(*embedder, ""), -1);
}

TEST(Dictionary, SameInputSameBytesAndNoTranslationsNoChange) {
  EXPECT_EQ(Taught().Fingerprint(), Taught().Fingerprint());
  Embedding embedding = Own();
  AddDictionary(kTexts, {}, embedding);
  EXPECT_EQ(embedding.Fingerprint(), Own().Fingerprint());
  AddDictionary(kTexts, {{"fr", std::vector<std::string>(kTexts.size())}}, embedding);
  EXPECT_EQ(Means(*MakeWordEmbedder(embedding), "chat"), -1);  // a language nobody wrote in
}

TEST(Dictionary, LongTextsAreEmbeddedToo) {
  const auto embedder = MakeWordEmbedder(Taught());
  std::string text = "chien qui sourit";
  for (int i = 0; i < 20000; ++i) text += " w" + std::to_string(i);
  EXPECT_EQ(Means(*embedder, text), 2);
}

TEST(Dictionary, WrongOptionsAreNamed) {
  Embedding embedding = Own();
  const auto refuses = [&](const Translations& others, const char* why) {
    EXPECT_THAT([&] { AddDictionary(kTexts, others, embedding); },
                ThrowsMessage<Error>(HasSubstr(why)));
  };
  refuses({{"fr", {"un"}}}, "fr: 1 translations of 9 texts");
  refuses({{"fr,de", kTexts}}, "names no language");
  refuses({{"", kTexts}}, "names no language");
  EXPECT_THROW(AddDictionary(kTexts, kOthers, embedding, {.meanings = 0}), Error);
  EXPECT_THROW(AddDictionary(kTexts, kOthers, embedding, {.ridge = 0}), Error);
  embedding.kind = "wordvec";
  refuses(kOthers, "tfidf");
}

TEST(Dictionary, ADamagedOneIsRefusedNeverCrashes) {
  const Embedding whole = Taught();
  MakeWordEmbedder(whole);
  for (const char* name : {"terms", "weights", "counts", "meanings", "shares"}) {
    const std::string tensor = std::string("dictionary_") + name;
    Embedding without = whole, wrong = whole, shorter = whole;
    without.tensors.erase(tensor);
    EXPECT_THROW(MakeWordEmbedder(without), Error) << name;
    wrong.tensors[tensor] = torch::zeros({2, 2});
    EXPECT_THROW(MakeWordEmbedder(wrong), Error) << name;
    shorter.tensors[tensor] = whole.tensors.at(tensor).slice(0, 0, -1);
    EXPECT_THROW(MakeWordEmbedder(shorter), Error) << name;
  }
  for (const char* names : {"", "es", "es,fr", "es,fr,zh,de"}) {
    Embedding wrong = whole;
    wrong.settings["languages"] = names;
    EXPECT_THROW(MakeWordEmbedder(wrong), Error) << names;
  }
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    Embedding hit = whole;
    for (auto& [name, tensor] : hit.tensors) {
      tensor = tensor.clone();
      auto* bytes = static_cast<uint8_t*>(tensor.data_ptr());
      if (random.Below(3) == 0) bytes[random.Below(tensor.nbytes())] = random.Bits() & 0xff;
    }
    try {
      MakeWordEmbedder(hit)->Embed({"chat qui sourit", "smiling cat", "微笑的猫", "gatos"});
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace crossilo

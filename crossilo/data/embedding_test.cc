#include "crossilo/data/embedding.h"

#include <gtest/gtest.h>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

Embedding Example() {
  return {"tfidf", {{"words", "true"}, {"grams", "3"}}, {{"idf", torch::ones({3})}}};
}

TEST(Embedding, ComesBackFromItsFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "embedding_test.safetensors";
  WriteEmbedding(path, Example());
  const Embedding back = ReadEmbedding(path);
  EXPECT_EQ(back.kind, "tfidf");
  EXPECT_EQ(back.settings, Example().settings);
  EXPECT_TRUE(torch::equal(back.tensors.at("idf"), torch::ones({3})));
  EXPECT_EQ(back.Fingerprint(), Example().Fingerprint());
  EXPECT_EQ(Sha256OfFile(path), Example().Fingerprint());
  WriteTensors(path, {{{"idf", torch::ones({3})}}, {}});
  EXPECT_THROW(ReadEmbedding(path), Error);
}

TEST(Embedding, EveryPartChangesTheFingerprint) {
  const std::string one = Example().Fingerprint();
  Embedding kind = Example(), setting = Example(), tensor = Example();
  kind.kind = "vectors";
  setting.settings["grams"] = "4";
  tensor.tensors["idf"] = torch::full({3}, 2.0f);
  EXPECT_NE(kind.Fingerprint(), one);
  EXPECT_NE(setting.Fingerprint(), one);
  EXPECT_NE(tensor.Fingerprint(), one);
  EXPECT_EQ(one.size(), 64u);
}

}  // namespace
}  // namespace crossilo

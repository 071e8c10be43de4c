#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/embed/fit.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

fs::path Vectors(const std::string& text) {
  const fs::path path = fs::path(testing::TempDir()) / "wordvec_test" / "vectors.txt";
  WriteFile(path, text);
  return path;
}

TEST(Wordvec, AveragesAreThoseWorkedByHand) {
  const fs::path file = Vectors("the 5 0\ncat 0 3\nred 4 0\n");
  const auto plain = MakeWordEmbedder(DescribeWordvec(file, {.smooth = 0}), {file.parent_path()});
  // (0, 3) + (4, 0) has the direction (.8, .6).
  EXPECT_TRUE(torch::allclose(plain->Embed({"Red cat, unheard"}), torch::tensor({{0.8f, 0.6f}})));
  EXPECT_TRUE(torch::equal(plain->Embed({"unheard", ""}), torch::zeros({2, 2})));

  // smooth 1: the word of rank r weighs r / (r + 1), so the: 1/2, cat: 2/3.
  // (2.5, 0) + (0, 2) has length sqrt(10.25).
  const auto smooth = MakeWordEmbedder(DescribeWordvec(file, {.smooth = 1}), {file.parent_path()});
  EXPECT_TRUE(torch::allclose(smooth->Embed({"the cat"}),
                              torch::tensor({{2.5f, 2.0f}}) / std::sqrt(10.25f)));
}

TEST(Wordvec, TheHeaderLineOfWord2vecIsSkipped) {
  const fs::path file = Vectors("2 3\na 1 2 2\nb 0 0 1\n");
  EXPECT_EQ(DescribeWordvec(file).settings.at("dims"), "3");
}

TEST(Wordvec, AnotherFileOfTheNameIsRefused) {
  const fs::path file = Vectors("a 1 2\n");
  const Embedding embedding = DescribeWordvec(file);
  EXPECT_EQ(embedding.settings.at("file"), "vectors.txt");
  EXPECT_THAT([&] { MakeWordEmbedder(embedding, {}); },
              ThrowsMessage<Error>(HasSubstr("wants the file vectors.txt (SHA-256 ")));
  EXPECT_THAT([&] { MakeWordEmbedder(embedding, {"/nowhere"}); },
              ThrowsMessage<Error>(HasSubstr("/nowhere")));
  Vectors("a 1 3\n");
  EXPECT_THAT([&] { MakeWordEmbedder(embedding, {file.parent_path()}); },
              ThrowsMessage<Error>(HasSubstr("not the file")));
  Embedding outside = embedding;
  outside.settings["file"] = "../vectors.txt";
  EXPECT_THAT([&] { MakeWordEmbedder(outside, {file.parent_path()}); },
              ThrowsMessage<Error>(HasSubstr("without folders")));
}

TEST(Wordvec, DamageIsRefusedNeverCrashes) {
  for (const char* text : {"", "a\n", "a 1 2\nb 1\n", "a 1 x\n", " 1 2\n", "a nan 1\n", "a inf 1\n",
                           "a 1e99 1\n", "3 4\n"}) {
    EXPECT_THROW(DescribeWordvec(Vectors(text)), Error) << text;
  }
  const std::string whole = "the 5 0 1\ncat 0 3 1\nred 4 0 1\n";
  Random random(6);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole.substr(0, 1 + random.Below(whole.size()));
    damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
    try {
      DescribeWordvec(Vectors(damaged));
    } catch (const Error&) {
    }
  }
  const fs::path npz = fs::path(testing::TempDir()) / "wordvec_test" / "vectors.npz";
  WriteFile(npz, "PK no zip");
  EXPECT_THROW(DescribeWordvec(npz), Error);
}

TEST(Wordvec, RealVectorsKnowThatCatsAreNearerToDogsThanToCars) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path file =
      fs::path(shared == nullptr ? "" : shared) / "backbones" / "glove6B_100d_top60k_f16.npz";
  if (!fs::exists(file)) GTEST_SKIP() << "no shared data here";
  const auto embedder = MakeWordEmbedder(DescribeWordvec(file), {file.parent_path()});
  ASSERT_EQ(embedder->dims(), 100);
  const torch::Tensor rows = embedder->Embed({"a cat", "the dogs", "a car"});
  EXPECT_GT(rows[0].dot(rows[1]).item<double>(), rows[0].dot(rows[2]).item<double>() + 0.1);
}

}  // namespace
}  // namespace crossilo

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

// A coloured disc on white; the number decides colour, place and size.
Picture Disc(int number, int side = 64) {
  Random random(1, {static_cast<uint64_t>(number)}, "disc");
  const double cx = random.Uniform(), cy = random.Uniform(), r = 0.1 + 0.4 * random.Uniform();
  uint8_t colour[3];
  for (uint8_t& c : colour) c = static_cast<uint8_t>(random.Below(256));
  Picture picture{side, side, std::vector<uint8_t>(size_t(3) * side * side, 255)};
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const double dx = (x + 0.5) / side - cx, dy = (y + 0.5) / side - cy;
      if (dx * dx + dy * dy < r * r) std::copy(colour, colour + 3, picture.at(x, y));
    }
  }
  return picture;
}

std::vector<Picture> Discs(int n) {
  std::vector<Picture> pictures;
  for (int i = 0; i < n; ++i) pictures.push_back(Disc(i));
  return pictures;
}

TEST(Descriptor, FeaturesHaveMeanSquareOneAndMeanZero) {
  const auto pictures = Discs(60);
  const auto embedder = MakePictureEmbedder(FitDescriptor(pictures, 20));
  const torch::Tensor features = embedder->Embed(pictures);
  EXPECT_EQ(features.sizes(), (std::vector<int64_t>{60, 20}));
  EXPECT_EQ(embedder->dims(), 20);
  EXPECT_NEAR(features.square().mean().item<double>(), 1, 1e-3);
  EXPECT_LT(features.mean(0).abs().max().item<double>(), 1e-3);
}

TEST(Descriptor, APictureAloneHasTheBitsItHasInACrowd) {
  const auto pictures = Discs(30);
  const Embedding embedding = FitDescriptor(pictures, 10);
  const auto embedder = MakePictureEmbedder(embedding);
  const torch::Tensor all = embedder->Embed(pictures);
  for (int i : {0, 17, 29}) EXPECT_TRUE(torch::equal(embedder->Embed({pictures[i]})[0], all[i]));
  EXPECT_EQ(embedder->Embed({}).size(0), 0);
  EXPECT_EQ(FitDescriptor(pictures, 10).Fingerprint(), embedding.Fingerprint());
  EXPECT_EQ(embedder->Describe().Fingerprint(), embedding.Fingerprint());
}

TEST(Descriptor, TheSameDrawingAtAnotherSizeIsItsNearest) {
  const auto pictures = Discs(40);
  const auto embedder = MakePictureEmbedder(FitDescriptor(pictures, 30));
  const torch::Tensor all = embedder->Embed(pictures);
  for (int i = 0; i < 40; i += 5) {
    const torch::Tensor larger = embedder->Embed({Disc(i, 150)});
    EXPECT_EQ((all - larger).square().sum(1).argmin().item<int64_t>(), i);
  }
}

TEST(Descriptor, FewOrEqualPicturesStillGiveFiniteFeatures) {
  const std::vector<Picture> same(3, Disc(1));
  const Embedding embedding = FitDescriptor(same);
  EXPECT_TRUE(torch::isfinite(MakePictureEmbedder(embedding)->Embed({Disc(2)})).all().item<bool>());
  EXPECT_EQ(MakePictureEmbedder(FitDescriptor({Disc(1)}))->dims(), 1);
  EXPECT_THROW(FitDescriptor({}), Error);
}

TEST(Descriptor, ADamagedEmbeddingIsRefused) {
  const Embedding whole = FitDescriptor(Discs(5), 2);
  Embedding missing = whole, narrow = whole, newer = whole;
  missing.tensors.erase("mean");
  narrow.tensors["basis"] = narrow.tensors["basis"].narrow(0, 0, 7);
  newer.settings["version"] = "2";
  EXPECT_THAT([&] { MakePictureEmbedder(missing); }, ThrowsMessage<Error>(HasSubstr("'mean'")));
  EXPECT_THAT([&] { MakePictureEmbedder(narrow); }, ThrowsMessage<Error>(HasSubstr("'basis'")));
  EXPECT_THAT([&] { MakePictureEmbedder(newer); }, ThrowsMessage<Error>(HasSubstr("version")));
}

TEST(Catalog, KindsWithoutAnEmbedderAreRefusedWithAWayOut) {
  EXPECT_THAT([] { MakePictureEmbedder(Embedding{}); },
              ThrowsMessage<Error>(HasSubstr("search by a row number")));
  EXPECT_THAT([] { MakeWordEmbedder(Embedding{}); },
              ThrowsMessage<Error>(HasSubstr("search by a row number")));
  EXPECT_THAT(
      [] {
        MakePictureEmbedder({"descriptr", {}, {}});
      },
      ThrowsMessage<Error>(HasSubstr("did you mean 'descriptor'")));
  EXPECT_THAT(
      [] {
        MakePictureEmbedder({"tfidf", {}, {}});
      },
      ThrowsMessage<Error>(HasSubstr("no embedder for picture")));
}

}  // namespace
}  // namespace crossilo

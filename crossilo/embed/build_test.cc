#include "crossilo/embed/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/embed/decode.h"
#include "crossilo/embed/embedder.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Twenty pictures of two colours with captions and labels.
fs::path Folder() {
  const fs::path folder = fs::path(testing::TempDir()) / "build_test";
  RemoveAll(folder);
  std::string captions = "picture\tcaption\tlabel\n";
  for (int i = 0; i < 20; ++i) {
    const bool red = i % 2 == 0;
    cv::Mat picture(20 + i, 30, CV_8UC3, red ? cv::Scalar(0, 0, 255) : cv::Scalar(255, 0, 0));
    picture(cv::Rect(i, 3, 5, 9)) = cv::Scalar(255, 255, 255);
    std::vector<uint8_t> png;
    cv::imencode(".png", picture, png);
    const std::string name = std::to_string(i) + ".png", colour = red ? "red" : "blue";
    WriteFile(folder / name, std::string(png.begin(), png.end()));
    captions += name + "\ta " + colour + " card number " + std::to_string(i) + "\t" + colour + "\n";
  }
  WriteFile(folder / "captions.tsv", captions);
  return folder;
}

Collection Cards() {
  const fs::path folder = Folder();
  return ReadCaptionedFolder(folder, folder / "captions.tsv");
}

TEST(BuildDataset, MakesAWholeDatasetThatCanBeAskedAgain) {
  const Collection cards = Cards();
  int64_t pictures = 0;
  const Dataset built = BuildDataset(cards, {}, [&](std::string_view stage, int64_t done, int64_t) {
    if (stage == "pictures") pictures = done;
  });
  EXPECT_EQ(pictures, 20);
  EXPECT_NO_THROW(Check(built, "built"));
  EXPECT_EQ(built.image.scalar_type(), torch::kFloat);
  EXPECT_EQ(built.text.size(0), 20);
  EXPECT_THAT(built.class_names.at(""), ElementsAre("blue", "red"));
  EXPECT_EQ(built.labels.at("")[3][0].item<int>(), 1);
  EXPECT_EQ(built.labels.at("")[3][1].item<int>(), 0);
  EXPECT_EQ(built.splits.at("query").size(), 4u);

  // The embedders that the dataset carries give its own features back.
  const auto words = MakeWordEmbedder(built.text_embedding)->Embed({cards.words[5]});
  const auto picture =
      MakePictureEmbedder(built.image_embedding)->Embed({ReadPicture(cards.PictureFile(5))});
  EXPECT_TRUE(torch::equal(words[0], built.text[5]));
  EXPECT_TRUE(torch::equal(picture[0], built.image[5]));
}

TEST(BuildDataset, FitsOnTrainingRowsAlone) {
  Collection cards = Cards();
  const Dataset before = BuildDataset(cards);
  const int64_t query = cards.splits.at("query")[0];
  cards.words[query] = "something never seen in training";
  fs::copy_file(cards.PictureFile(query == 0 ? 1 : 0), cards.PictureFile(query),
                fs::copy_options::overwrite_existing);
  const Dataset after = BuildDataset(cards);
  EXPECT_EQ(after.text_embedding.Fingerprint(), before.text_embedding.Fingerprint());
  EXPECT_EQ(after.image_embedding.Fingerprint(), before.image_embedding.Fingerprint());
  EXPECT_FALSE(torch::equal(after.image[query], before.image[query]));
}

TEST(BuildDataset, OtherLanguagesChangeNoFeatureAndAreLearntFromTrainingRows) {
  Collection cards = Cards();
  const Dataset before = BuildDataset(cards);
  for (int i = 0; i < 20; ++i) {
    cards.translations["de"].push_back(i % 2 == 0 ? "rote Karte" : "blaue Karte");
  }
  cards.translations["de"][cards.splits.at("query")[0]] = "geheim";
  const Dataset with = BuildDataset(cards);
  EXPECT_TRUE(torch::equal(with.text, before.text));
  EXPECT_NE(with.text_embedding.Fingerprint(), before.text_embedding.Fingerprint());
  const auto embedder = MakeWordEmbedder(with.text_embedding);
  EXPECT_TRUE(torch::equal(embedder->Embed(cards.words), before.text));
  const torch::Tensor own = MakeWordEmbedder(before.text_embedding)->Embed({"red", "blue"});
  const torch::Tensor close = own.mv(embedder->Embed({"rote Karte"})[0]);
  EXPECT_GT(close[0].item<double>(), close[1].item<double>());
  // What a held-out row is called elsewhere teaches nothing.
  EXPECT_EQ(embedder->Embed({"geheim"}).abs().sum().item<double>(), 0);
}

TEST(BuildDataset, BadPicturesAndOptionsAreNamed) {
  const Collection cards = Cards();
  WriteFile(cards.PictureFile(11), "no picture");
  WriteFile(cards.PictureFile(13), "no picture either");
  EXPECT_THAT([&] { BuildDataset(cards); },
              ThrowsMessage<Error>(HasSubstr("11.png: not a PNG, JPEG or WebP")));
  BuildOptions options;
  options.words = "tfdif";
  EXPECT_THAT([&] { BuildDataset(cards, options); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'tfidf'")));
  options.words = "wordvec";
  EXPECT_THAT([&] { BuildDataset(cards, options); },
              ThrowsMessage<Error>(HasSubstr("name the file")));
  options = {};
  options.pictures = "hog";
  EXPECT_THAT([&] { BuildDataset(cards, options); }, ThrowsMessage<Error>(HasSubstr("'hog'")));
}

}  // namespace
}  // namespace crossilo

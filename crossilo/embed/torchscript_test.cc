#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/embed/fit.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// A network file whose forward() is the given expression of x.
fs::path Network(const std::string& expression) {
  const fs::path path = fs::path(testing::TempDir()) / "torchscript_test" / "net.pt";
  fs::create_directories(path.parent_path());
  torch::jit::Module module("Net");
  module.define("def forward(self, x):\n    return " + expression + "\n");
  module.save(path.string());
  return path;
}

const Picture kPicture{2, 1, {0, 128, 255, 64, 128, 255}};

TEST(Torchscript, PixelsReachTheNetworkByChannelAndScaled) {
  const fs::path file = Network("x.amax([2, 3])");
  TorchscriptOptions options;
  options.width = 2, options.height = 1;
  options.scale = {128, 128, 127};
  const Embedding embedding = DescribeTorchscript(file, options);
  EXPECT_EQ(embedding.settings.at("dims"), "3");
  const auto embedder = MakePictureEmbedder(embedding, {"/nowhere", file.parent_path()});
  // Red at most 64: (64 - 128) / 128 = -1/2; green 0; blue (255 - 128) / 127.
  EXPECT_TRUE(torch::allclose(embedder->Embed({kPicture}), torch::tensor({{-0.5f, 0.0f, 1.0f}})));
}

TEST(Torchscript, ManyPicturesComeInBatchesAndStayInOrder) {
  const fs::path file = Network("x.mean([2, 3], True)");  // n x 3 x 1 x 1 is flattened
  const auto embedder = MakePictureEmbedder(DescribeTorchscript(file), {file.parent_path()});
  std::vector<Picture> pictures;
  for (uint8_t i = 0; i < 70; ++i) pictures.push_back({1, 1, {i, 128, 128}});
  const torch::Tensor rows = embedder->Embed(pictures);
  for (int i = 0; i < 70; ++i) EXPECT_NEAR(rows[i][0].item<double>(), (i - 128) / 128.0, 1e-5);
}

TEST(Torchscript, WrongFilesAreRefusedByName) {
  const fs::path file = Network("x.mean([2, 3])");
  const Embedding embedding = DescribeTorchscript(file);
  EXPECT_THAT([&] { MakePictureEmbedder(embedding); },
              ThrowsMessage<Error>(HasSubstr("wants the file net.pt (SHA-256 ")));
  Network("x.mean([2, 3]) + 1");
  EXPECT_THAT([&] { MakePictureEmbedder(embedding, {file.parent_path()}); },
              ThrowsMessage<Error>(HasSubstr("not the file this torchscript embedding")));
  EXPECT_THAT([] { DescribeTorchscript(Network("x.reshape([7, 7])")); },
              ThrowsMessage<Error>(HasSubstr("refuses 224 x 224")));
  EXPECT_THAT([] { DescribeTorchscript(Network("x.sum()")); },
              ThrowsMessage<Error>(HasSubstr("one row of numbers")));
  WriteFile(file, "not a network");
  EXPECT_THAT([&] { DescribeTorchscript(file); },
              ThrowsMessage<Error>(HasSubstr("not a TorchScript file")));
}

}  // namespace
}  // namespace crossilo

// A real network on real photographs: the fashion pictures of the shared data.
#include <gtest/gtest.h>

#include <cstring>

#include "crossilo/base/file.h"
#include "crossilo/data/npy.h"
#include "crossilo/embed/decode.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/embed/fit.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// The first `most` files of an uncompressed tar: blocks of 512 bytes, the name
// at 0, the size in octal at 124, the type at 156 ('0' is a plain file).
std::vector<Picture> FirstPictures(const fs::path& tar, size_t most) {
  const MappedFile file(tar);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  std::vector<Picture> pictures;
  for (size_t at = 0; at + 512 <= bytes.size() && bytes[at] != 0 && pictures.size() < most;) {
    const size_t size = std::stoull(std::string(bytes.substr(at + 124, 11)), nullptr, 8);
    if (bytes[at + 156] == '0') {
      pictures.push_back(DecodePicture(bytes.substr(at + 512, size), bytes.data() + at));
    }
    at += 512 + (size + 511) / 512 * 512;
  }
  return pictures;
}

TEST(Backbone, FeaturesComeCloseToThoseOfTheLargerOriginals) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path root(shared == nullptr ? "" : shared);
  const fs::path network = root / "backbones" / "mobilenet_v2_1280.pt";
  if (!fs::exists(network)) GTEST_SKIP() << "no shared data here";
  if (!CanDecodePictures()) GTEST_SKIP() << "this build cannot decode pictures";
  const auto embedder = MakePictureEmbedder(DescribeTorchscript(network), {network.parent_path()});
  ASSERT_EQ(embedder->dims(), 1280);
  const torch::Tensor rows = embedder->Embed(FirstPictures(root / "data/fashion/pictures.tar", 50));
  ASSERT_EQ(rows.size(0), 50);

  const Array array = ReadNpy(root / "data/fashion/image_mobilenetv2.npy");
  ASSERT_EQ(array.type, Dtype::kF16);
  torch::Tensor given = torch::empty({50, 1280}, torch::kHalf);
  std::memcpy(given.data_ptr(), array.bytes.data(), 50 * 1280 * 2);
  given = given.to(torch::kFloat);
  const torch::Tensor cosine = torch::cosine_similarity(rows, given, 1);
  const torch::Tensor shifted = torch::cosine_similarity(rows, given.roll(1, 0), 1);
  RecordProperty("mean_cosine", std::to_string(cosine.mean().item<double>()));
  EXPECT_GT(cosine.mean().item<double>(), 0.6);
  EXPECT_GT(cosine.mean().item<double>(), shifted.mean().item<double>() + 0.1);
}

}  // namespace
}  // namespace crossilo

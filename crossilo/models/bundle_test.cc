#include "crossilo/models/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/models/encode.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

Bundle Example() {
  Bundle bundle;
  bundle.base = "dcmh";
  bundle.model_table = "[model]\nbits = 16\nhidden_image = 3\nhidden_text = 3\n";
  bundle.shape = {2, 2, 2};
  const Config config = Config::Parse(bundle.model_table, "test");
  bundle.weights = Weights(*FindModel("dcmh").make(bundle.shape, config.Table("model"), Random(4)));
  bundle.image_embedding = {"descriptor", {{"size", "64"}}, {{"basis", torch::ones({2})}}};
  bundle.notes = {{"method", "fedavg"}};
  return bundle;
}

std::filesystem::path Path() {
  return std::filesystem::path(testing::TempDir()) / "bundle_test.safetensors";
}

TEST(Bundle, ComesBackAsTheSameModel) {
  const Bundle bundle = Example();
  WriteBundle(Path(), bundle);
  const Bundle back = ReadBundle(Path());
  EXPECT_EQ(back.image_embedding.Fingerprint(), bundle.image_embedding.Fingerprint());
  EXPECT_EQ(back.notes, bundle.notes);
  const torch::Tensor x = torch::rand({3, 2});
  const torch::Tensor a = EncodeRows(*MakeModel(bundle), Modality::kText, x, {0, 1, 2});
  const torch::Tensor b = EncodeRows(*MakeModel(back), Modality::kText, x, {0, 1, 2});
  EXPECT_TRUE(torch::equal(a, b));
}

TEST(Bundle, OtherFilesAreRefused) {
  WriteTensors(Path(), {{{"a", torch::ones({1})}}, {}});
  EXPECT_THROW(ReadBundle(Path()), Error);
  WriteFile(Path(), "not even close");
  EXPECT_THROW(ReadBundle(Path()), Error);
}

TEST(Bundle, ADatasetOfAnotherEmbedderIsRefused) {
  Bundle bundle = Example();
  Dataset dataset;
  dataset.image = dataset.text = torch::zeros({1, 2});
  dataset.image_embedding = bundle.image_embedding;
  CheckFits(bundle, dataset);
  dataset.image_embedding.settings["size"] = "32";
  try {
    CheckFits(bundle, dataset);
    FAIL() << "features of another embedder were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("made by 'descriptor'"));
  }
  dataset.image = torch::zeros({1, 5});
  EXPECT_THROW(CheckFits(bundle, dataset), Error);
}

TEST(Encode, BlocksGiveTheSameCodesAsTheWhole) {
  auto model = MakeModel(Example());
  const torch::Tensor x = torch::rand({5000, 2}).to(torch::kHalf);
  Rows rows(5000);
  for (int64_t i = 0; i < 5000; ++i) rows[i] = 4999 - i;
  torch::NoGradGuard no_grad;
  const torch::Tensor whole = model->Encode(Modality::kImage, x.to(torch::kFloat).flip(0)).code;
  EXPECT_TRUE(torch::allclose(EncodeRows(*model, Modality::kImage, x, rows), whole));
}

}  // namespace
}  // namespace crossilo

#include "crossilo/methods/synthesis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/methods/synthesis_upload.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// (1, 0), (1, 1) and (0, -1) to the prototypes (2, 0) and (-1, 0): cosines 1,
// 1/sqrt 2 and 0.
TEST(Synthesis, TheFilterOnThreeSamples) {
  const torch::Tensor C = torch::tensor({{2.f, 0.f}, {-1.f, 0.f}});
  const torch::Tensor F = torch::tensor({{1.f, 0.f}, {1.f, 1.f}, {0.f, -1.f}});
  const torch::Tensor d = DistanceToNearest(F, C);
  EXPECT_NEAR(d[0].item<double>(), 0, 1e-6);
  EXPECT_NEAR(d[1].item<double>(), 1 - std::sqrt(.5), 1e-6);
  EXPECT_NEAR(d[2].item<double>(), 1, 1e-6);
  EXPECT_TRUE(torch::equal(WithinTheta(d, 0.3), torch::tensor({0, 1})));
  EXPECT_TRUE(torch::equal(WithinTheta(d, 0.2), torch::tensor({0})));
  EXPECT_EQ(WithinTheta(d - 1, -1.5).numel(), 0);
  EXPECT_TRUE(torch::equal(WithinTheta(torch::tensor({NAN, 0.f}), INFINITY), torch::tensor({1})));
}

// 0 .. 10: the 90% quantile is 9; of 0, 1 it is .9.
TEST(Synthesis, ThetaIsAQuantile) {
  EXPECT_NEAR(QuantileOf(torch::arange(11), 0.9), 9, 1e-6);
  EXPECT_NEAR(QuantileOf(torch::tensor({1.f, 0.f}), 0.9), 0.9, 1e-6);
  EXPECT_EQ(QuantileOf(torch::empty({0}), 0.9), 0);
}

// Members 0 and 1 of cluster 0, 2 of cluster 1; a third is empty.
TEST(Synthesis, LabelsOfClusters) {
  const torch::Tensor labels = torch::tensor({{1.f, 0.f, 1.f}, {1.f, 1.f, 0.f}, {0.f, 0.f, 1.f}});
  const torch::Tensor means = ClusterLabels(labels, torch::tensor({0, 0, 1}), 3);
  EXPECT_TRUE(
      torch::equal(means, torch::tensor({{1.f, .5f, .5f}, {0.f, 0.f, 1.f}, {0.f, 0.f, 0.f}})));
  const torch::Tensor common =
      CommonLabels(torch::tensor({{.5f, .4f, .9f}, {.1f, .3f, .2f}, {0.f, 0.f, 0.f}}));
  EXPECT_TRUE(
      torch::equal(common.slice(0, 0, 2), torch::tensor({{1.f, 0.f, 1.f}, {0.f, 1.f, 0.f}})));
  EXPECT_EQ(common[2].sum().item<double>(), 1);
}

TEST(Synthesis, ShapesFollowTheInputStage) {
  const auto shape = [](const std::string& input, const std::string& output) {
    const Config table = Config::Parse(
        "hidden_image = 4\nhidden_text = 4\ninput_dims = 6\ninput = '" + input + "'\n", "test");
    return PairShapeOf(*NewModel(FindModel("ucch"), {3, 5}, table, Random(1)), output);
  };
  EXPECT_EQ(shape("raw", "auto").output, GeneratorOutput::kLinear);
  EXPECT_EQ(shape("unit", "auto").output, GeneratorOutput::kUnit);
  EXPECT_EQ(shape("mlp", "auto").output, GeneratorOutput::kUnit);
  EXPECT_EQ(shape("unit", "tanh").output, GeneratorOutput::kTanh);
  EXPECT_EQ(shape("unit", "linear").output, GeneratorOutput::kLinear);
  EXPECT_EQ(shape("raw", "auto").dims(), 8);
  EXPECT_EQ(shape("mlp", "auto").dims(), 12);
}

TEST(Synthesis, AnUploadComesBackAndABrokenOneDoesNot) {
  Random random(1);
  const PairShape shape{.image_dims = 2, .text_dims = 3};
  const WganOptions small{.noise = 3, .width = 2};
  const SynthesisUpload sent{.prototypes = RandomNormal({4, 5}, random),
                             .labels = torch::ones({4, 2}),
                             .generator = NewGenerator(shape, small, random),
                             .theta = 0.25,
                             .samples = 7};
  const auto read = [&](const TensorMap& map, int64_t labels = 2) {
    return SynthesisUpload::From(map, shape, small, 5, labels);
  };
  const TensorMap good = sent.Sent();
  ASSERT_TRUE(read(good));
  EXPECT_TRUE(torch::equal(read(good)->prototypes, sent.prototypes));
  EXPECT_EQ(read(good)->theta, 0.25);
  EXPECT_EQ(read(good)->generator.size(), 8u);
  EXPECT_FALSE(read(good, 0)->labels.defined());
  EXPECT_FALSE(read(good, 3));
  EXPECT_FALSE(read({}));
  const auto with = [&](const std::string& name, const torch::Tensor& x) {
    TensorMap map = good;
    map[name] = x;
    return read(map);
  };
  EXPECT_FALSE(with("prototypes", torch::ones({4, 4})));
  EXPECT_FALSE(with("prototypes", torch::full({4, 5}, NAN)));
  EXPECT_FALSE(with("prototypes", torch::ones({0, 5})));
  EXPECT_FALSE(with("labels", torch::ones({3, 2})));
  EXPECT_FALSE(with("theta", torch::tensor({-1.0})));
  EXPECT_FALSE(with("theta", torch::ones({2})));
  EXPECT_FALSE(with("samples", torch::tensor({1e12})));
  ASSERT_TRUE(with("generator/0.bias", torch::ones({9})));
  EXPECT_TRUE(with("generator/0.bias", torch::ones({9}))->generator.empty());
}

}  // namespace
}  // namespace crossilo

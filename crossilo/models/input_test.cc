// The stage between features and the base.

#include <gtest/gtest.h>

#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

constexpr char kSizes[] = "bits = 8\nhidden_image = 4\nhidden_text = 4\n";

std::unique_ptr<HashModel> Model(const std::string& keys) {
  return NewModel(FindModel("ucch"), {3, 5, 0}, Config::Parse(kSizes + keys, "test"), Random(1));
}

TEST(Input, RawIsTheModelAsItsKindMakesIt) {
  const auto plain = FindModel("ucch").make({3, 5, 0}, Config::Parse(kSizes, "test"), Random(1));
  const TensorMap expected = Weights(*plain), weights = Weights(*Model(""));
  ASSERT_EQ(weights.size(), expected.size());
  for (const auto& [name, w] : expected) EXPECT_TRUE(weights.at(name).equal(w)) << name;
}

// (3, 0, 4) / 5 = (.6, 0, .8); a row of zeros stays one.
TEST(Input, UnitScalesRows) {
  const auto model = Model("input = 'unit'\n");
  const torch::Tensor x = torch::tensor({{3.f, 0.f, 4.f}, {0.f, 0.f, 0.f}});
  const Encoded a = model->Encode(Modality::kImage, x);
  EXPECT_TRUE(torch::allclose(a.input, torch::tensor({{0.6f, 0.f, 0.8f}, {0.f, 0.f, 0.f}})));
  EXPECT_TRUE(a.code.equal(model->Encode(Modality::kImage, 10 * x).code));
}

TEST(Input, MlpBringsBothModalitiesToOneWidth) {
  const auto model = Model("input = 'mlp'\ninput_dims = 6\n");
  EXPECT_EQ(model->parameters().at("image.input.weight").sizes(), (torch::IntArrayRef{6, 3}));
  EXPECT_EQ(model->parameters().at("text.input.weight").sizes(), (torch::IntArrayRef{6, 5}));
  const torch::Tensor x = torch::rand({2, 3});
  const Encoded e = model->Encode(Modality::kImage, x);
  EXPECT_EQ(e.input.sizes(), (torch::IntArrayRef{2, 6}));
  EXPECT_TRUE(torch::allclose(e.input.norm(2, 1), torch::ones({2})));
  e.code.sum().backward();
  EXPECT_TRUE(model->parameters().at("image.input.weight").grad().defined());
}

TEST(Input, SkippedItTakesWhatTheStageMade) {
  const auto model = Model("input = 'mlp'\ninput_dims = 6\n");
  const torch::Tensor x = torch::rand({2, 3});
  const torch::Tensor F = model->Input(Modality::kImage, x).detach();
  const torch::Tensor code = model->Encode(Modality::kImage, x).code;
  model->SkipInput();
  EXPECT_TRUE(model->Encode(Modality::kImage, F).code.equal(code));
}

}  // namespace
}  // namespace crossilo

#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/models/bundle.h"
#include "crossilo/models/head.h"

namespace crossilo {
namespace {

std::unique_ptr<HashModel> Model() {
  auto model = FindModel("dcmh").make(
      {1, 1, 2}, Config::Parse("bits = 8\nhidden_image = 1\nhidden_text = 1\n", "test"), Random(1));
  model->Attach(MakeMemoryHead(2, 8, false), Random(2));
  torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : model->parameters()) parameter.zero_();
  return model;
}

TEST(MemoryHead, EnhancesAsEquations3And4Say) {
  auto model = Model();
  {
    torch::NoGradGuard no_grad;
    model->parameters().at("image.hash.bias").fill_(0.5);  // O = 0.5 in every bit
    model->parameters().at("image.classifier.bias").copy_(torch::tensor({0.0, std::log(3.0)}));
  }
  const torch::Tensor x = torch::ones({1, 1});
  EXPECT_TRUE(torch::equal(model->Encode(Modality::kImage, x).code, torch::full({1, 8}, 0.5)));
  model->SetContext({{"memory", torch::cat({torch::ones({1, 8}), -torch::ones({1, 8})})}});
  // Lhat = softmax(0, log 3) = (1/4, 3/4); V_m = 1/4 - 3/4 = -1/2
  const Encoded e = model->Encode(Modality::kImage, x);
  EXPECT_NEAR(e.code[0][3].item<double>(), 0.5 - 0.5 * std::tanh(0.5), 1e-6);
  EXPECT_NEAR(e.output[0][3].item<double>(), 0.5, 1e-6);
}

TEST(MemoryHead, TheBundleCarriesTheMemory) {
  auto model = Model();
  model->SetContext({{"memory", torch::full({2, 8}, 0.25)}});
  Bundle bundle{.base = "dcmh",
                .model_table = "[model]\nbits = 8\nhidden_image = 1\nhidden_text = 1\n",
                .shape = model->shape(),
                .weights = Weights(*model),
                .head = model->head()->Description(),
                .context = Copy(model->context())};
  const auto path = std::filesystem::path(testing::TempDir()) / "memory_head_test.safetensors";
  WriteBundle(path, bundle);
  const auto again = MakeModel(ReadBundle(path));
  const torch::Tensor x = torch::ones({3, 1});
  EXPECT_TRUE(
      torch::equal(again->Encode(Modality::kText, x).code, model->Encode(Modality::kText, x).code));
  bundle.context["memory"] = torch::zeros({5, 8});
  EXPECT_THROW(MakeModel(bundle), Error);
  bundle.head = "brain";
  EXPECT_THROW(MakeModel(bundle), Error);
}

}  // namespace
}  // namespace crossilo

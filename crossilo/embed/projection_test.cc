#include "crossilo/embed/projection.h"

#include <gtest/gtest.h>

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

TEST(FitPca, FindsTheLineThroughThePoints) {
  // (1, 1) + t (-3, 4), t = -2 .. 2: mean (1, 1), direction (3, -4) / 5 up to
  // the sign, which makes the larger entry positive: (-.6, .8).
  const torch::Tensor t = torch::arange(-2, 3, torch::kFloat).unsqueeze(1);
  const Pca pca = FitPca(1 + t * torch::tensor({{-3.0f, 4.0f}}), 1);
  EXPECT_TRUE(torch::allclose(pca.mean, torch::tensor({1.0f, 1.0f})));
  EXPECT_TRUE(torch::allclose(pca.basis, torch::tensor({{-0.6f}, {0.8f}}), 1e-5, 1e-6));
}

TEST(FitPca, DirectionsAreOrthonormalStrongestFirstAndNoMoreThanTheData) {
  Random random(1);
  const torch::Tensor x = RandomNormal({50, 8}, random) * torch::arange(1, 9);
  const Pca pca = FitPca(x, 5);
  EXPECT_TRUE(torch::allclose(pca.basis.t().mm(pca.basis), torch::eye(5), 1e-4, 1e-5));
  const torch::Tensor strength = (x - pca.mean).mm(pca.basis).square().sum(0);
  EXPECT_TRUE((strength.slice(0, 0, 4) >= strength.slice(0, 1, 5)).all().item<bool>());
  EXPECT_EQ(FitPca(x, 100).basis.size(1), 8);
  EXPECT_EQ(FitPca(x.narrow(0, 0, 4), 100).basis.size(1), 3);  // four points span three
}

TEST(FitSvd, AgreesWithTheExactDecomposition) {
  Random random(2);
  // Strengths fall like 0.9^k, so that the directions are well apart.
  const torch::Tensor x =
      RandomNormal({80, 60}, random) * torch::pow(0.9, torch::arange(60, torch::kFloat));
  const torch::Tensor found = FitSvd(x, 10);
  const auto [u, s, v] = at::linalg_svd(x, /*full_matrices=*/false);
  const torch::Tensor exact = v.narrow(0, 0, 10).t();
  EXPECT_TRUE(torch::allclose((found * exact).sum(0).abs(), torch::ones({10}), 1e-3, 1e-3));
  EXPECT_TRUE(torch::equal(found, FitSvd(x, 10)));
  EXPECT_EQ(FitSvd(x.narrow(0, 0, 3), 10).size(1), 3);
}

TEST(Project, IsTheMatrixProduct) {
  Random random(3);
  const torch::Tensor row = RandomNormal({1, 40}, random), basis = RandomNormal({40, 7}, random);
  torch::Tensor out = torch::empty({1, 7});
  Project(row.data_ptr<float>(), basis, out.data_ptr<float>());
  EXPECT_TRUE(torch::allclose(out, row.mm(basis), 1e-4, 1e-5));
}

}  // namespace
}  // namespace crossilo

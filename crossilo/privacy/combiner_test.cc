#include "crossilo/privacy/combiner.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

TensorMap Of(float a, float b) { return {{"w", torch::tensor({a, b})}}; }

TEST(PlainCombiner, WeighsByShare) {
  // (1 * [2, 4] + 3 * [6, 0]) / 4 = [5, 1]
  const TensorMap mean = PlainCombiner().Mean({{1, Of(2, 4)}, {3, Of(6, 0)}});
  EXPECT_TRUE(torch::allclose(mean.at("w"), torch::tensor({5.0f, 1.0f})));
}

TEST(PlainCombiner, OfOneIsThatOneToTheBit) {
  const TensorMap mean = PlainCombiner().Mean({{7, Of(0.1f, 1e-30f)}});
  EXPECT_TRUE(torch::equal(mean.at("w"), torch::tensor({0.1f, 1e-30f})));
}

TEST(PlainCombiner, LeavesTheSharesAlone) {
  const std::vector<Share> shares = {{1, Of(1, 2)}, {1, Of(3, 4)}};
  PlainCombiner().Mean(shares);
  EXPECT_TRUE(torch::equal(shares[0].tensors.at("w"), torch::tensor({1.0f, 2.0f})));
  EXPECT_TRUE(PlainCombiner().Mean({}).empty());
}

}  // namespace
}  // namespace crossilo

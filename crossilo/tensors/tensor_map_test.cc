#include "crossilo/tensors/tensor_map.h"

#include <gtest/gtest.h>

#include <limits>

namespace crossilo {
namespace {

TEST(TensorMap, AddsSubtractsAndScalesByName) {
  const TensorMap a = {{"w", torch::tensor({1.0f, 2.0f})}, {"b", torch::tensor({3.0f})}};
  const TensorMap b = {{"w", torch::tensor({10.0f, 20.0f})}, {"b", torch::tensor({30.0f})}};
  EXPECT_TRUE(torch::equal((a + b).at("w"), torch::tensor({11.0f, 22.0f})));
  EXPECT_TRUE(torch::equal((b - a).at("b"), torch::tensor({27.0f})));
  EXPECT_TRUE(torch::equal((0.5 * b).at("w"), torch::tensor({5.0f, 10.0f})));
  EXPECT_EQ(Bytes(a), 12);
  EXPECT_ANY_THROW(a + TensorMap{});
}

TEST(TensorMap, PrefixesSeparateAndReturn) {
  const TensorMap a = {{"w", torch::ones({2})}};
  TensorMap both = Prefixed("x/", a);
  both.merge(Prefixed("c/", a));
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(Under("c/", both).count("w"), 1u);
}

TEST(TensorMap, CopiesShareNoMemory) {
  const TensorMap a = {{"w", torch::ones({2})}};
  const TensorMap b = Copy(a);
  a.at("w").zero_();
  EXPECT_EQ(b.at("w").sum().item<float>(), 2);
}

TEST(TensorMap, NamesTheFirstNotFinite) {
  TensorMap a = {{"a", torch::ones({2})}, {"n", torch::tensor({1, 2})}};
  EXPECT_EQ(FirstNotFinite(a), "");
  a["b"] = torch::tensor({1.0f, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(FirstNotFinite(a), "b");
}

}  // namespace
}  // namespace crossilo

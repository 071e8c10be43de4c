#include "crossilo/methods/pseudo_labels.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

Silo MakeSilo(int id, const torch::Tensor& image) {
  return {.id = id, .name = "s", .all = {image, image.clone()}};
}

// Two directions; silo 0 has both, silo 1 only the second, in another length.
// Samples of one direction must get one class, in whichever silo they are.
TEST(PseudoLabels, MeanTheSameInEverySilo) {
  const torch::Tensor a = torch::tensor({{1.f, 0.f}}), b = torch::tensor({{0.f, 1.f}});
  std::vector<Silo> silos = {MakeSilo(0, torch::cat({a, b, a * 2, b * 3})),
                             MakeSilo(1, torch::cat({b * 7, b}))};
  SetPseudoLabels(silos, 2, 1);
  const torch::Tensor of0 = silos[0].all.labels.argmax(1), of1 = silos[1].all.labels.argmax(1);
  EXPECT_EQ(of0[0].item<int64_t>(), of0[2].item<int64_t>());
  EXPECT_EQ(of0[1].item<int64_t>(), of0[3].item<int64_t>());
  EXPECT_NE(of0[0].item<int64_t>(), of0[1].item<int64_t>());
  EXPECT_EQ(of1[0].item<int64_t>(), of0[1].item<int64_t>());
  EXPECT_EQ(of1[1].item<int64_t>(), of0[1].item<int64_t>());
  EXPECT_TRUE(silos[1].all.labels.sum(1).eq(1).all().item<bool>());
}

// Fewer samples than classes, and a silo of one: every sample has one class of
// the number asked for.
TEST(PseudoLabels, FewSamples) {
  std::vector<Silo> silos = {MakeSilo(0, torch::eye(2)), MakeSilo(1, torch::ones({1, 2}))};
  SetPseudoLabels(silos, 5, 1);
  for (const Silo& silo : silos) {
    EXPECT_EQ(silo.all.labels.sizes(), (torch::IntArrayRef{silo.size(), 5}));
    EXPECT_TRUE(silo.all.labels.sum(1).eq(1).all().item<bool>());
  }
}

}  // namespace
}  // namespace crossilo

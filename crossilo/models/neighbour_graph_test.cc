#include "crossilo/models/neighbour_graph.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/tensor_map.h"

namespace crossilo {
namespace {

torch::Tensor All(int64_t n) { return torch::arange(n, torch::kLong); }

void ExpectNear(const torch::Tensor& got, const torch::Tensor& expected) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_LT((got - expected).abs().max().item<double>(), 1e-5) << got << expected;
}

// Images of samples 0, 1 and of 2, 3 point the same way, texts of 0, 2 and of
// 1, 3; lengths must not matter.  With a1 = 0.3 the rows of S_pair are
//   1 .7 .3 0 | .7 1 0 .3 | .3 0 1 .7 | 0 .3 .7 1
torch::Tensor Images() {
  return torch::tensor({1.f, 0.f, 2.f, 0.f, 0.f, 3.f, 0.f, 4.f}).view({4, 2});
}
torch::Tensor Texts() {
  return torch::tensor({5.f, 0.f, 0.f, 1.f, 2.f, 0.f, 0.f, 3.f}).view({4, 2});
}

// scale = round(3.6) = 4, discarded = round(1.8) = 2: row 0 of P keeps only
// sample 1, and so on in pairs.  P P^T = E;
// S = 2 (.7 S_pair + .3 * 4 E) - 1: 2 * 1.9 - 1 = 2.8, 2 * .49 - 1 = -.02,
// 2 * .21 - 1 = -.58 and -1.
TEST(NeighbourGraph, WorkedByHandWithTheDefaults) {
  for (int64_t kept : {0, 100}) {
    NeighbourGraph graph(Images(), Texts(), {.kept = kept});
    const torch::Tensor S = torch::tensor({2.8f, -.02f, -.58f, -1.f, -.02f, 2.8f, -1.f, -.58f,  //
                                           -.58f, -1.f, 2.8f, -.02f, -1.f, -.58f, -.02f, 2.8f});
    ExpectNear(graph.Target(All(4)), S.view({4, 4}));
  }
}

// discarded = 1: row 0 of P is 0 .7 .3 0 and row 3 is 0 .3 .7 0, whose product
// is .42; a row with itself gives .58, others have no common neighbour.
// S_03 = 2 * .3 * 4 * .42 - 1 = .008; S_00 = 2 (.7 + .3 * 4 * .58) - 1 = 1.792.
TEST(NeighbourGraph, CommonNeighboursWorkedByHand) {
  NeighbourGraph graph(Images(), Texts(), {.discarded = 0.25});
  ExpectNear(graph.Target(torch::tensor({3, 0, 1})),
             torch::tensor({1.792f, .008f, -.58f, .008f, 1.792f, -.02f, -.58f, -.02f, 1.792f})
                 .view({3, 3}));
}

// All alike: 0 and 1 are discarded, and 0 is the largest; 2 and 3 remain with
// 1/2 each.  S = 2 (.7 + .3 * 4 * .5) - 1 = 1.6.
TEST(NeighbourGraph, OfEqualEntriesTheLowestNumberGoes) {
  for (int64_t kept : {0, 100}) {
    const torch::Tensor same = torch::tensor({1.f, 0.f}).repeat({4, 1});
    NeighbourGraph graph(same, same, {.kept = kept});
    ExpectNear(graph.Target(All(4)), torch::full({4, 4}, 1.6f));
  }
}

// cos: 01 .6, 02 -.8, 12 0.  Row 0 of P keeps sample 1, row 1 sample 0, row 2
// nothing; scale = 3.  S_00 = 2 (.7 + .9) - 1 = 2.2, S_01 = 2 * .42 - 1 = -.16,
// S_02 = 2 * -.56 - 1 = -2.12, S_22 = 2 * .7 - 1 = .4.
TEST(NeighbourGraph, NegativeLikenessIsNoNeighbour) {
  const torch::Tensor x = torch::tensor({1.f, 0.f, .6f, .8f, -.8f, .6f}).view({3, 2});
  NeighbourGraph graph(x, x, {.a1 = 0, .discarded = 0});
  ExpectNear(
      graph.Target(All(3)),
      torch::tensor({2.2f, -.16f, -2.12f, -.16f, 2.2f, -1.f, -2.12f, -1.f, .4f}).view({3, 3}));
}

TEST(NeighbourGraph, BothWaysGiveTheSameNumbers) {
  Random random(1);
  for (bool signs : {false, true}) {
    torch::Tensor image = RandomNormal({150, 9}, random), text = RandomNormal({150, 5}, random);
    if (!signs) image = image.abs(), text = text.abs();
    text.select(0, 7).zero_();
    NeighbourGraph whole(image, text, {}), by_batch(image, text, {.kept = 149});
    for (int64_t m : {1, 13, 150}) {
      const torch::Tensor rows = RandomPermutation(150, random).slice(0, 0, m);
      ExpectNear(by_batch.Target(rows), whole.Target(rows));
      ExpectNear(whole.Target(rows),
                 whole.Target(All(150)).index_select(0, rows).index_select(1, rows));
    }
  }
}

TEST(NeighbourGraph, FewSamplesAndAbsurdSettingsStayFinite) {
  for (int64_t n : {1, 2, 3, 4, 5}) {
    for (double discarded : {0.0, 0.45, 1e30}) {
      for (int64_t kept : {0, 100}) {
        const torch::Tensor x = torch::eye(n);
        NeighbourGraph graph(x, torch::zeros({n, 2}), {.discarded = discarded, .kept = kept});
        const torch::Tensor S = graph.Target(All(n));
        EXPECT_TRUE(S.isfinite().all().item<bool>()) << n;
        // Orthogonal images and no text: .7 on the diagonal of S_pair, else 0,
        // and nobody has a neighbour.  S = 2 * .7 * .7 - 1 = -.02.
        ExpectNear(S, 0.98 * torch::eye(n) - 1);
      }
    }
  }
}

double Megabytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  }
  return 0;
}

// n^2 floats would be 40 GB.  It takes about 100 MB; a sanitizer keeps 256 MB of
// freed memory besides.
TEST(NeighbourGraph, AHundredThousandSamplesNeedNoSquareOfThem) {
  const int64_t n = 100'000;
  Random random(2);
  NeighbourGraph graph(RandomUniform({n, 6}, 0, 1, random), RandomUniform({n, 4}, 0, 1, random),
                       {});
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
  const double before = Megabytes("VmRSS");
  for (int i = 0; i < 2; ++i) {
    const torch::Tensor S = graph.Target(RandomPermutation(n, random).slice(0, 0, 32));
    EXPECT_TRUE(S.isfinite().all().item<bool>());
    EXPECT_LT((S - S.t()).abs().max().item<double>(), 1e-4);
  }
  ASSERT_GT(before, 0);
  EXPECT_LT(Megabytes("VmHWM") - before, 400);
}

}  // namespace
}  // namespace crossilo

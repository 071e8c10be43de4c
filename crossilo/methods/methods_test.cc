#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// One silo with its model, ready for a client of any method.
struct Bench {
  Bench() {
    Random random(1);
    silo.all = {RandomNormal({20, 3}, random), RandomNormal({20, 3}, random),
                torch::eye(2).repeat({10, 1})};
    model = FindModel("dcmh").make(
        {3, 3, 2}, Config::Parse("bits = 16\nhidden_image = 4\nhidden_text = 4\n", "test"),
        Random(2));
  }
  Update Round(const std::string& method, const std::string& table) {
    const auto client = FindMethod(method).make_client(
        {silo, *model, {.local_epochs = 3, .batch = 5}, 9}, Config::Parse(table, "test"));
    client->Receive(Weights(*model));
    return client->Train(1);
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
};

double Distance(const TensorMap& a, const TensorMap& b) {
  double sum = 0;
  for (const auto& [name, x] : a - b) sum += x.square().sum().item<double>();
  return std::sqrt(sum);
}

TEST(FedProx, WithMuZeroIsFedAvgToTheBit) {
  Bench a, b;
  const Update fedavg = a.Round("fedavg", ""), fedprox = b.Round("fedprox", "mu = 0.0\n");
  EXPECT_EQ(Distance(fedavg.sums, fedprox.sums), 0);
  EXPECT_EQ(fedavg.weight, 20);
}

TEST(FedProx, HoldsWeightsNearTheGlobalOnes) {
  Bench a, b;
  const TensorMap start = Weights(*a.model);
  const double loose = Distance(a.Round("fedprox", "mu = 0.001\n").sums, start);
  const double tight = Distance(b.Round("fedprox", "mu = 5.0\n").sums, start);
  EXPECT_GT(loose, 0);
  EXPECT_LT(tight, 0.5 * loose);
}

// The pull grows by mu (w - w_t): to first order twice the mu is twice the pull.
TEST(FedProx, ThePullIsLinearInMu) {
  const TensorMap start = Weights(*Bench().model);
  const TensorMap free = Bench().Round("fedprox", "mu = 0.0\n").sums;
  const TensorMap once = Bench().Round("fedprox", "mu = 1e-3\n").sums;
  const TensorMap twice = Bench().Round("fedprox", "mu = 2e-3\n").sums;
  EXPECT_GT(Distance(once, free), 0);
  EXPECT_NEAR(Distance(twice, free) / Distance(once, free), 2, 0.01);
  EXPECT_LT(Distance(once, start), Distance(free, start));
}

TEST(Local, SendsNothing) {
  Bench bench;
  const Update update = bench.Round("local", "");
  EXPECT_TRUE(update.sums.empty());
  EXPECT_TRUE(update.gathered.empty());
}

TEST(Averaging, UniformWeightsCountAllSilosAlike) {
  Bench bench;
  EXPECT_EQ(bench.Round("fedavg", "weights = 'uniform'\n").weight, 1);
}

TEST(Methods, AnUnknownOneNamesTheNearest) {
  try {
    FindMethod("fedavk");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "method.name is 'fedavk', which is not known; did you mean "
                 "'fedavg'?");
  }
}

}  // namespace
}  // namespace crossilo

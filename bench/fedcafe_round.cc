// What does a round of FedCAFE cost against a round of FedAvg on the same data?
//
// One silo of 780 pairs with 1280 image and 1600 text features in 27 classes
// (a tenth of fashion), SHDCH with 32 bits, five local epochs of batches of 32,
// Adam.  FedCAFE's round includes the received model's view of every sample
// and the local memory.  The right answer is 1.4 or less.

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/train/threads.h"

namespace {

using crossilo::Random;

// Seconds of the fastest of some rounds after the first, which has no memory.
double Round(const crossilo::Silo& silo, const char* method, int rounds) {
  const crossilo::Config table = crossilo::Config::Parse("", "the defaults");
  const crossilo::Method& m = crossilo::FindMethod(method);
  auto model = crossilo::FindModel("shdch").make({1280, 1600, 27}, table, Random(1));
  if (m.prepare != nullptr) m.prepare(*model, table, 1);
  const crossilo::TrainingOptions training{.local_epochs = 5,
                                           .optimizer = {.kind = "adam", .learning_rate = 1e-3}};
  const auto client = m.make_client({silo, *model, training, 1, 1}, table);
  const auto server =
      m.make_server({Weights(*model), 1, model->shape(), model->code_dims(), 1}, table);
  double best = 1e9;
  for (int round = 1; round <= rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    client->Receive(server->Broadcast(0));
    const crossilo::Update update = client->Train(round);
    server->Merge({.mean = update.sums, .gathered = {{0, update.gathered}}});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (round > 1) best = std::min(best, seconds);
  }
  return best;
}

}  // namespace

int main() {
  crossilo::UseThreads(1);
  Random random(3);
  crossilo::Silo silo;
  const int64_t n = 780;
  silo.all = {crossilo::RandomNormal({n, 1280}, random), crossilo::RandomNormal({n, 1600}, random),
              torch::eye(27).index_select(0, torch::arange(n).remainder(27))};
  double fedavg = 1e9, fedcafe = 1e9;
  for (int repeat = 0; repeat < 2; ++repeat) {
    fedavg = std::min(fedavg, Round(silo, "fedavg", 6));
    fedcafe = std::min(fedcafe, Round(silo, "fedcafe", 6));
  }
  std::printf("a round of fedavg   %6.3f s    1.00\n", fedavg);
  std::printf("a round of fedcafe  %6.3f s    %.2f\n", fedcafe, fedcafe / fedavg);
  return fedcafe / fedavg <= 1.4 ? 0 : 1;
}

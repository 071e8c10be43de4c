// Are one UCCH step and one DGCPN step no slower than the same in PyTorch?
//
// This half takes our steps, unsupervised_step.py those of PyTorch, and
// unsupervised_step.sh runs both in turn and judges.  5,000 pairs with 1,280
// image and 818 text features, hidden layers of 1,024, 64 bits.  UCCH: batches of
// 256, 4,096 negatives from the bank, Adam.  DGCPN: batches of 32, the three
// updates of a batch as one step, SGD with momentum.  Prints the fastest step of
// each, in seconds.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/train/optimizer.h"
#include "crossilo/train/threads.h"

namespace {

using crossilo::Random;

// As TrainLocally takes the parts of a step, from rows to moved weights.
double Fastest(const char* base, const crossilo::Silo& silo, int64_t batch,
               const crossilo::OptimizerOptions& options, int steps) {
  const crossilo::Config table = crossilo::Config::Parse(
      base == std::string("ucch") ? "bits = 64\nwarmup = 0\n" : "bits = 64\n", "the bench");
  auto model = crossilo::FindModel(base).make({1280, 818, 0}, table, Random(1));
  auto learner = model->Learn(silo, Random(2), Random(0));
  crossilo::Optimizer optimizer(options);
  Random random(3);
  learner->BeginRound(random);
  double best = 1e9;
  for (int taken = -2; taken < steps;) {  // two to warm up
    auto start = std::chrono::steady_clock::now();
    for (const crossilo::Step& step : learner->PlanEpoch(0, batch, random)) {
      if (step.rows.size(0) < batch || taken == steps) break;
      crossilo::Seen seen;
      const torch::Tensor loss = learner->Loss(step, seen);
      if (!(loss.item<double>() < 1e9)) std::exit(1);
      loss.backward();
      optimizer.Step(model->parameters(), model->ParametersOf(step.trains));
      learner->AfterStep(step);
      if (!step.last) continue;
      const auto now = std::chrono::steady_clock::now();
      if (taken++ >= 0) best = std::min(best, std::chrono::duration<double>(now - start).count());
      start = std::chrono::steady_clock::now();
    }
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  crossilo::UseThreads(argc > 1 ? std::atoi(argv[1]) : 1);
  const int64_t n = 5000;
  Random random(4);
  crossilo::Silo silo;
  silo.all = {crossilo::RandomUniform({n, 1280}, 0, 1, random),
              crossilo::RandomUniform({n, 818}, 0, 1, random), torch::Tensor()};
  const crossilo::OptimizerOptions adam{
      .kind = "adam", .learning_rate = 1e-4, .weight_decay = 1e-6, .clip = 1};
  const crossilo::OptimizerOptions sgd{
      .kind = "sgd", .learning_rate = 0.005, .momentum = 0.9, .weight_decay = 5e-4};
  std::printf("ucch %.6f\n", Fastest("ucch", silo, 256, adam, 12));
  std::printf("dgcpn %.6f\n", Fastest("dgcpn", silo, 32, sgd, 60));
}

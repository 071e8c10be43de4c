// How far is a training step from the matrix products that it cannot avoid?
//
// The step is DCMH's image head with Adam: 128 x 4096 -> 4096 -> 64, forward,
// backward and update.  The floor is its five products alone, into memory that
// is already there.  Prints both and their ratio; the right answer is 1.4 or
// less, where a step written with torch::linear and torch's Adam takes 2.2.

#include <torch/optim.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "crossilo/models/linear.h"
#include "crossilo/train/optimizer.h"
#include "crossilo/train/threads.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kBatch = 128, kIn = 4096, kHidden = 4096, kBits = 64;

// The fastest of several: what the work takes when nobody else disturbs it.
double Fastest(int repeats, const std::function<void()>& work) {
  work();
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

struct Head {
  torch::Tensor x = torch::randn({kBatch, kIn});
  crossilo::TensorMap w = {{"w1", (0.01 * torch::randn({kHidden, kIn})).set_requires_grad(true)},
                           {"b1", torch::zeros({kHidden}).set_requires_grad(true)},
                           {"w2", (0.01 * torch::randn({kBits, kHidden})).set_requires_grad(true)},
                           {"b2", torch::zeros({kBits}).set_requires_grad(true)}};

  template <typename F>
  void Backward(F linear) {
    const torch::Tensor hidden = torch::relu(linear(x, w.at("w1"), w.at("b1")));
    linear(hidden, w.at("w2"), w.at("b2")).square().mean().backward();
  }
};

double Floor(int repeats) {
  const torch::Tensor x = torch::randn({kBatch, kIn}), w1 = torch::randn({kHidden, kIn});
  const torch::Tensor w2 = torch::randn({kBits, kHidden}), g = torch::randn({kBatch, kBits});
  torch::Tensor h = torch::empty({kBatch, kHidden}), y = torch::empty({kBatch, kBits});
  torch::Tensor dh = torch::empty_like(h), dw1 = torch::empty_like(w1), dw2 = torch::empty_like(w2);
  return Fastest(repeats, [&] {
    torch::mm_out(h, x, w1.t());
    torch::mm_out(y, h, w2.t());
    torch::mm_out(dw2, g.t(), h);
    torch::mm_out(dh, g, w2);
    torch::mm_out(dw1, dh.t(), x);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 15;
  crossilo::UseThreads(threads);
  const double floor = Floor(repeats);

  Head ours;
  crossilo::Optimizer adam({.kind = "adam", .learning_rate = 1e-4});
  const std::vector<std::string> names = {"b1", "b2", "w1", "w2"};
  const double step = Fastest(repeats, [&] {
    ours.Backward(crossilo::Linear);
    adam.Step(ours.w, names);
  });

  Head plain;
  torch::optim::Adam torch_adam(
      {plain.w.at("w1"), plain.w.at("b1"), plain.w.at("w2"), plain.w.at("b2")}, 1e-4);
  const double torch_step = Fastest(repeats, [&] {
    torch_adam.zero_grad();
    plain.Backward([](auto& x, auto& w, auto& b) { return torch::linear(x, w, b); });
    torch_adam.step();
  });

  std::printf("%d thread(s)              time    over the floor\n", threads);
  std::printf("the products alone  %7.1f ms    1.00\n", 1e3 * floor);
  std::printf("our step            %7.1f ms    %.2f\n", 1e3 * step, step / floor);
  std::printf("torch's own step    %7.1f ms    %.2f\n", 1e3 * torch_step, torch_step / floor);
  return step / floor <= 1.4 ? 0 : 1;
}

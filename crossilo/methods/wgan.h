#pragma once

#include <functional>

#include "crossilo/methods/wgan_networks.h"
#include "crossilo/train/optimizer.h"

namespace crossilo {

// A generator and its critic in training.
class Wgan {
 public:
  // What is added to L_G, from the rows that were generated for it; may be
  // undefined.
  using Terms = std::function<torch::Tensor(const torch::Tensor& F_g)>;

  Wgan(const PairShape& shape, const WganOptions& options, torch::Device device)
      : shape_(shape),
        options_(options),
        device_(device),
        critic_moves_(Moves()),
        moves_(Moves()) {}

  bool started() const { return !generator_.empty(); }
  void Start(Random random);  // new networks

  // Passes over the rows of `real` with new optimisers: for every batch
  // `critic_steps` steps of the critic and one of the generator.
  void Train(const torch::Tensor& real, int64_t epochs, Random& random, const Terms& terms);
  void CriticStep(const torch::Tensor& real, Random& random);
  void GeneratorStep(int64_t rows, Random& random, const Terms& terms);

  torch::Tensor Sample(int64_t rows, Random& random) const;  // without gradients
  const TensorMap& generator() const { return generator_; }
  const TensorMap& critic() const { return critic_; }

  TensorMap State() const;
  void SetState(const TensorMap& state);

 private:
  Optimizer Moves() const;
  torch::Tensor Noise(int64_t rows, Random& random) const;

  PairShape shape_;
  WganOptions options_;
  torch::Device device_;
  TensorMap generator_, critic_;
  Optimizer critic_moves_, moves_;
};

}  // namespace crossilo

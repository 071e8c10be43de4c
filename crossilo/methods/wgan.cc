// A Wasserstein GAN of paired features.
//
// Arjovsky, Chintala and Bottou, Wasserstein GAN, ICML 2017, with the networks
// of FedWGAN's authors:
//
//   critic:     min  L_D = mean D(G(eps)) - mean D(F),  weights clipped to +-c
//   generator:  min  L_G = -mean D(G(eps)) + terms,     eps ~ N(0, I)
//
// both by RMSprop.  The critic gets no other loss: FedWGAN's Eq. 12 adds
// L_local, which does not depend on it.

#include "crossilo/methods/wgan.h"

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

std::vector<std::string> Names(const TensorMap& network) {
  std::vector<std::string> names;
  for (const auto& [name, w] : network) names.push_back(name);
  return names;
}

std::vector<torch::Tensor> Values(const TensorMap& network) {
  std::vector<torch::Tensor> values;
  for (const auto& [name, w] : network) values.push_back(w);
  return values;
}

TensorMap Trainable(const TensorMap& network, torch::Device device) {
  TensorMap copy = Copy(network, device);
  for (auto& [name, w] : copy) w.set_requires_grad(true);
  return copy;
}

}  // namespace

Optimizer Wgan::Moves() const {
  return Optimizer({.kind = "rmsprop", .learning_rate = options_.rate});
}

void Wgan::Start(Random random) {
  generator_ = Trainable(NewGenerator(shape_, options_, random), device_);
  critic_ = Trainable(NewCritic(shape_, options_, random), device_);
}

torch::Tensor Wgan::Noise(int64_t rows, Random& random) const {
  return RandomNormal({rows, options_.noise}, random).to(device_);
}

torch::Tensor Wgan::Sample(int64_t rows, Random& random) const {
  torch::NoGradGuard no_grad;
  return Generate(generator_, shape_, Noise(rows, random));
}

void Wgan::CriticStep(const torch::Tensor& real, Random& random) {
  const int64_t n = real.size(0);
  const torch::Tensor both = torch::cat({real, Sample(n, random)});
  const torch::Tensor scores = Score(critic_, both, options_.dropout, &random);
  const torch::Tensor L_D = scores.slice(0, n).mean() - scores.slice(0, 0, n).mean();
  L_D.backward();
  critic_moves_.Step(critic_, Names(critic_));
  torch::NoGradGuard no_grad;
  for (auto& [name, w] : critic_) w.clamp_(-options_.clip, options_.clip);
}

void Wgan::GeneratorStep(int64_t rows, Random& random, const Terms& terms) {
  const torch::Tensor F_g = Generate(generator_, shape_, Noise(rows, random));
  torch::Tensor L_G = -Score(critic_, F_g, options_.dropout, &random).mean();
  const torch::Tensor more = terms ? terms(F_g) : torch::Tensor();
  if (more.defined()) L_G = L_G + more;
  // No gradient is left on the critic, or on an encoder inside `terms`.
  L_G.backward({}, c10::nullopt, false, Values(generator_));
  moves_.Step(generator_, Names(generator_));
}

void Wgan::Train(const torch::Tensor& real, int64_t epochs, Random& random, const Terms& terms) {
  critic_moves_ = moves_ = Moves();
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const torch::Tensor order = RandomPermutation(real.size(0), random).to(real.device());
    for (const torch::Tensor& rows : order.split(options_.batch)) {
      const torch::Tensor F = real.index_select(0, rows);
      for (int64_t i = 0; i < options_.critic_steps; ++i) CriticStep(F, random);
      GeneratorStep(F.size(0), random, terms);
    }
  }
}

TensorMap Wgan::State() const {
  TensorMap state = Prefixed("generator/", Copy(generator_));
  state.merge(Prefixed("critic/", Copy(critic_)));
  return state;
}

void Wgan::SetState(const TensorMap& state) {
  generator_ = Trainable(Under("generator/", state), device_);
  critic_ = Trainable(Under("critic/", state), device_);
}

}  // namespace crossilo

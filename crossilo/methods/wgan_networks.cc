// The generator and the critic of FedWGAN's authors: multilayer perceptrons with
// LeakyReLU(.2), and in the critic dropout.

#include "crossilo/methods/wgan_networks.h"

#include <cmath>

#include "crossilo/models/linear.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

using Widths = std::vector<int64_t>;

Widths GeneratorWidths(const PairShape& shape, const WganOptions& o) {
  return {o.noise, o.width, 2 * o.width, 4 * o.width, shape.dims()};
}

std::string LayerName(size_t layer, const char* what) { return std::to_string(layer) + what; }

TensorMap NewNetwork(const Widths& widths, Random& random) {
  TensorMap network;
  for (size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const int64_t in = widths[layer], out = widths[layer + 1];
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    network[LayerName(layer, ".weight")] = RandomUniform({out, in}, -bound, bound, random);
    network[LayerName(layer, ".bias")] = RandomUniform({out}, -bound, bound, random);
  }
  return network;
}

// 1/(1 - p) where an output stays, 0 where it is dropped.  Four draws of 16
// bits from every 64.
torch::Tensor DropoutMask(const torch::Tensor& like, double p, Random& random) {
  torch::Tensor mask = torch::empty(like.sizes(), torch::kFloat);
  float* at = mask.data_ptr<float>();
  const auto dropped = static_cast<uint64_t>(p * 65536);
  const float kept = static_cast<float>(1 / (1 - p));
  uint64_t bits = 0;
  for (int64_t i = 0, n = mask.numel(); i < n; ++i, bits >>= 16) {
    if (i % 4 == 0) bits = random.Bits();
    at[i] = (bits & 0xffff) < dropped ? 0 : kept;
  }
  return mask.to(like.device());
}

torch::Tensor Forward(const TensorMap& network, torch::Tensor x, double dropout, Random* random) {
  const size_t layers = network.size() / 2;
  for (size_t layer = 0; layer < layers; ++layer) {
    x = Linear(x, network.at(LayerName(layer, ".weight")), network.at(LayerName(layer, ".bias")));
    if (layer + 1 == layers) break;
    x = torch::leaky_relu(x, 0.2);
    if (random != nullptr && dropout > 0) x = x * DropoutMask(x, dropout, *random);
  }
  return x;
}

}  // namespace

WganOptions WganOptions::From(const Config& table) {
  WganOptions o;
  o.noise = table.Int("gan_noise", o.noise, "numbers of noise that a generated pair is made of", 1);
  o.width = table.Int("gan_width", o.width,
                      "of the generator's first hidden layer; the next are two and four times as "
                      "wide, the critic's the same in reverse",
                      1, 1 << 16);
  o.critic_steps = table.Int("n_critic", o.critic_steps,
                             "steps of the critic for each of the generator's", 1, 1000);
  o.batch = table.Int("gan_batch", o.batch, "samples of a step of either", 1);
  o.dropout = table.Real("critic_dropout", o.dropout,
                         "share of the critic's hidden outputs that training leaves out", 0, 0.95);
  o.rate = table.Real("gan_rate", o.rate, "step size of generator and critic, by RMSprop", 0);
  o.clip = table.Real("gan_clip", o.clip, "the critic's weights are cut to +- this", 1e-9);
  return o;
}

TensorMap NewGenerator(const PairShape& shape, const WganOptions& options, Random& random) {
  return NewNetwork(GeneratorWidths(shape, options), random);
}

TensorMap NewCritic(const PairShape& shape, const WganOptions& options, Random& random) {
  const int64_t w = options.width;
  return NewNetwork({shape.dims(), 4 * w, 2 * w, w, 1}, random);
}

bool IsGenerator(const TensorMap& tensors, const PairShape& shape, const WganOptions& options) {
  const Widths widths = GeneratorWidths(shape, options);
  if (tensors.size() != 2 * (widths.size() - 1)) return false;
  for (size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const auto weight = tensors.find(LayerName(layer, ".weight"));
    const auto bias = tensors.find(LayerName(layer, ".bias"));
    if (weight == tensors.end() || bias == tensors.end()) return false;
    const torch::Tensor &w = weight->second, &b = bias->second;
    if (w.scalar_type() != torch::kFloat || b.scalar_type() != torch::kFloat) return false;
    if (w.sizes() != torch::IntArrayRef({widths[layer + 1], widths[layer]})) return false;
    if (b.sizes() != torch::IntArrayRef({widths[layer + 1]})) return false;
  }
  return FirstNotFinite(tensors).empty();
}

torch::Tensor Generate(const TensorMap& generator, const PairShape& shape,
                       const torch::Tensor& noise) {
  const torch::Tensor rows = Forward(generator, noise, 0, nullptr);
  if (shape.output == GeneratorOutput::kTanh) return torch::tanh(rows);
  if (shape.output == GeneratorOutput::kLinear) return rows;
  return torch::cat(
      {UnitRows(rows.slice(1, 0, shape.image_dims)), UnitRows(rows.slice(1, shape.image_dims))}, 1);
}

torch::Tensor Score(const TensorMap& critic, const torch::Tensor& rows, double dropout,
                    Random* random) {
  return Forward(critic, rows, dropout, random).squeeze(1);
}

}  // namespace crossilo

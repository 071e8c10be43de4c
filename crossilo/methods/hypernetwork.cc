// Layer-wise aggregation: a hypernetwork per silo says how much of every
// silo's layer goes into its own.
//
// Ma et al., Layer-wised Model Aggregation for Personalized Federated Learning
// (pFedLA), CVPR 2022, with PLFedCMH's sizes (Liu et al., ICASSP 2023).
//
//   h = MLP(e_i), three layers with ReLU;   alpha^l = ReLU(W^l h + c^l)
//   thetabar_i^l = sum_j alpha_j^l / A^l theta_j^l,    A^l = sum_j alpha_j^l
//   phi += rate (d thetabar_i / d phi)^T d_i,   d_i what training changed
//
// The step needs no autograd through the models: N inner products a layer give
// dG/dalpha (see the header).  Its sign: d_i goes down the silo's loss, so `+`
// descends.  The code of pFedLA's copies, PLFedCMH's among them, subtracts.
//
// W^l starts uniform in (0, 1) on features that are not negative, so that some
// alpha is positive.

#include "crossilo/methods/hypernetwork.h"

#include <cmath>

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

constexpr const char* kMlp[] = {"mlp.0", "mlp.1", "mlp.2"};

// A of the header; 0 where alpha cannot be divided by it.
double Total(const torch::Tensor& alpha) {
  const double sum = alpha.sum().item<double>();
  return std::isfinite(sum) && sum > 0 ? sum : 0;
}

}  // namespace

HypernetworkOptions HypernetworkOptions::From(const Config& table) {
  HypernetworkOptions o;
  o.embedding = table.Int("hn_embedding", o.embedding, "length of a hypernetwork's input", 1);
  o.hidden = table.Int("hn_hidden", o.hidden, "width of a hypernetwork's layers", 1);
  o.rate = table.Real("hn_rate", o.rate, "step size of the hypernetworks; 0: they stay", 0);
  o.descent = table.Choice("hn_sign", "descent", {"descent", "literal"},
                           "descent: layers' shares move to lower the silo's loss; literal: to "
                           "raise it, as PLFedCMH's code does") == "descent";
  o.embedding_only = table.Choice("hn_trains", "all", {"all", "embedding"},
                                  "what of a hypernetwork learns; embedding: its input only, as "
                                  "in PEPFCH's code") == "embedding";
  return o;
}

Hypernetwork::Hypernetwork(const std::vector<std::string>& layers, int64_t silos,
                           const HypernetworkOptions& options, Random random)
    : layers_(layers), options_(options) {
  const int64_t h = options.hidden;
  parameters_["embedding"] = RandomNormal({1, options.embedding}, random);
  int64_t in = options.embedding;
  for (const char* name : kMlp) {
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    parameters_[std::string(name) + ".weight"] = RandomUniform({h, in}, -bound, bound, random);
    parameters_[std::string(name) + ".bias"] = RandomUniform({h}, -bound, bound, random);
    in = h;
  }
  for (const std::string& layer : layers_) {
    parameters_["head/" + layer + ".weight"] = RandomUniform({silos, h}, 0, 1, random);
    parameters_["head/" + layer + ".bias"] = torch::zeros({silos});
  }
  SetState(parameters_);
}

void Hypernetwork::SetState(const TensorMap& state) {
  for (auto& [name, w] : parameters_) {
    w = state.at(name).to(torch::kDouble).clone().set_requires_grad(true);
  }
}

TensorMap Hypernetwork::Forward() const {
  const auto linear = [this](const std::string& name, const torch::Tensor& x) {
    return torch::relu(x.mm(parameters_.at(name + ".weight").t()) + parameters_.at(name + ".bias"));
  };
  torch::Tensor h = parameters_.at("embedding");
  for (const char* name : kMlp) h = linear(name, h);
  TensorMap alpha;
  for (const std::string& layer : layers_) alpha[layer] = linear("head/" + layer, h).squeeze(0);
  return alpha;
}

TensorMap Hypernetwork::Alpha() const {
  torch::NoGradGuard no_grad;
  return Forward();
}

void Hypernetwork::Learn(const TensorMap& gradients) {
  if (options_.rate == 0 || layers_.empty()) return;
  torch::Tensor G = torch::zeros({}, torch::kDouble);
  for (const auto& [layer, alpha] : Forward()) G = G + (alpha * gradients.at(layer)).sum();
  G.backward();
  torch::NoGradGuard no_grad;
  for (auto& [name, w] : parameters_) {
    const bool learns = !options_.embedding_only || name == "embedding";
    if (learns && w.grad().defined())
      w.add_(w.grad(), options_.descent ? options_.rate : -options_.rate);
    w.mutable_grad().reset();
  }
}

std::vector<double> MixingShares(const torch::Tensor& alpha, int64_t own) {
  std::vector<double> shares(alpha.size(0), 0);
  const double A = Total(alpha);
  if (A == 0) {
    shares.at(own) = 1;
    return shares;
  }
  for (size_t j = 0; j < shares.size(); ++j) {
    shares[j] = alpha[static_cast<int64_t>(j)].item<double>() / A;
  }
  return shares;
}

torch::Tensor AlphaGradient(const torch::Tensor& alpha, const std::vector<double>& D) {
  const double A = Total(alpha);
  if (A == 0) return torch::zeros_like(alpha);
  const torch::Tensor d = torch::tensor(D, torch::kDouble);
  return (d - (alpha * d).sum() / A) / A;
}

}  // namespace crossilo

// The hub of layered methods: N models, mixed layer by layer for every silo.
//
//   send   thetabar_i^l = sum_j alpha_j / A theta_j^l     (see hypernetwork.cc)
//   get    d_i, the change that training made
//   learn  D_j = <theta_j^l, d_i^l>  ->  one step of silo i's hypernetworks
//   keep   theta_i^l := thetabar_i^l + d_i^l
//
// Algorithm 1 of PLFedCMH does this for all silos in parallel; its authors'
// code silo after silo, each already mixing what the silos before it have
// learned in this round.  `order` has both.
//
// The models are walked layer by layer: besides theta there is never more than
// one layer for every silo that took part.

#include "crossilo/methods/layered_server.h"

#include "crossilo/methods/prototypes.h"

namespace crossilo {
namespace {

// Weight and bias are one layer.
std::string LayerOf(const std::string& name) {
  for (std::string_view end : {".weight", ".bias"}) {
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return name;
}

// A modality's encoder has a hypernetwork of its own, and so has the rest.
std::string NetworkOf(const std::string& layer) {
  for (Modality m : kModalities) {
    if (layer.starts_with(NameOf(m) + ".")) return NameOf(m);
  }
  return "shared";
}

}  // namespace

LayeredOptions LayeredOptions::From(const Config& table) {
  LayeredOptions o;
  const std::string mix = table.Choice(
      "layered", "hn", {"hn", "identity", "uniform"},
      "what a silo starts a round from: layers mixed as its hypernetwork says, its own weights, or "
      "the mean of all");
  o.mix = mix == "hn" ? Mix::kHypernetwork : mix == "identity" ? Mix::kIdentity : Mix::kUniform;
  o.sequential = table.Choice("order", "sequential", {"sequential", "parallel"},
                              "sequential: silos train one after another and mix what those "
                              "before them sent; parallel: all at once") == "sequential";
  o.hypernetwork = HypernetworkOptions::From(table);
  return o;
}

LayeredServer::LayeredServer(const ServerSetup& setup, const LayeredOptions& options)
    : options_(options), silos_(setup.silos), theta_(setup.silos, setup.initial) {
  std::map<std::string, std::vector<std::string>> layers_of;  // by network
  for (const auto& [name, w] : setup.initial) layers_[LayerOf(name)].push_back(name);
  for (const auto& [layer, names] : layers_) layers_of[NetworkOf(layer)].push_back(layer);
  if (options_.mix != LayeredOptions::Mix::kHypernetwork) return;
  networks_.resize(silos_);
  for (int i = 0; i < silos_; ++i) {
    uint64_t number = 0;
    for (const auto& [network, layers] : layers_of) {
      Random random(setup.seed, {static_cast<uint64_t>(i), number++}, "hypernetwork");
      networks_[i].emplace(network, Hypernetwork(layers, silos_, options_.hypernetwork, random));
    }
  }
}

Exchange LayeredServer::exchange() const {
  return options_.sequential ? Exchange::kOneByOne : Exchange::kAtOnce;
}

TensorMap LayeredServer::Alpha(int silo) const {
  TensorMap alpha;
  if (options_.mix == LayeredOptions::Mix::kHypernetwork) {
    for (const auto& [name, network] : networks_.at(silo)) alpha.merge(network.Alpha());
    return alpha;
  }
  const bool uniform = options_.mix == LayeredOptions::Mix::kUniform;
  for (const auto& [layer, names] : layers_) {
    alpha[layer] =
        uniform ? torch::ones({silos_}, torch::kDouble) : torch::eye(silos_, torch::kDouble)[silo];
  }
  return alpha;
}

TensorMap LayeredServer::MixLayer(const Layer& layer, const std::vector<double>& shares) const {
  TensorMap mixed;
  for (const std::string& name : layer) {
    torch::Tensor sum = torch::zeros_like(theta_.front().at(name));
    for (int j = 0; j < silos_; ++j) {
      if (shares[j] != 0) sum.add_(theta_[j].at(name), shares[j]);
    }
    mixed[name] = sum;
  }
  return mixed;
}

TensorMap LayeredServer::Broadcast(int silo) const {
  TensorMap weights;
  const TensorMap alphas = Alpha(silo);
  for (const auto& [layer, names] : layers_) {
    weights.merge(MixLayer(names, MixingShares(alphas.at(layer), silo)));
  }
  TensorMap broadcast = Prefixed("w/", weights);
  broadcast.insert(prototypes_.begin(), prototypes_.end());
  return broadcast;
}

torch::Tensor LayeredServer::GradientOf(int silo, const Layer& layer, const torch::Tensor& alpha,
                                        const TensorMap& gathered) const {
  // Only differences of D count, and theta_j - theta_i loses fewer digits than
  // the difference of two long sums.
  std::vector<double> D(silos_, 0);
  for (const std::string& name : layer) {
    const torch::Tensor& own = theta_[silo].at(name);
    const torch::Tensor d = gathered.at("d/" + name).flatten();
    for (int j = 0; j < silos_; ++j) {
      const torch::Tensor& other = theta_[j].at(name);
      if (!other.is_same(own)) D[j] += (other - own).flatten().dot(d).item<double>();
    }
  }
  return AlphaGradient(alpha, D);
}

void LayeredServer::Apply(const std::map<int, TensorMap>& gathered) {
  const bool learns = options_.mix == LayeredOptions::Mix::kHypernetwork;
  std::map<int, TensorMap> alphas, gradients;
  for (const auto& [silo, sent] : gathered) alphas[silo] = Alpha(silo);
  for (const auto& [layer, names] : layers_) {
    std::map<int, TensorMap> next;
    for (const auto& [silo, sent] : gathered) {
      const torch::Tensor& alpha = alphas[silo].at(layer);
      if (learns) gradients[silo][layer] = GradientOf(silo, names, alpha, sent);
      next[silo] = MixLayer(names, MixingShares(alpha, silo));
      for (auto& [name, w] : next[silo]) w.add_(sent.at("d/" + name));
    }
    for (const auto& [silo, weights] : next) {
      for (const auto& [name, w] : weights) theta_[silo][name] = w;
    }
  }
  for (const auto& [silo, by_layer] : gradients) {
    for (auto& [name, network] : networks_[silo]) network.Learn(by_layer);
  }
}

void LayeredServer::Merge(const Merged& round) {
  if (!options_.sequential) Apply(round.gathered);
  prototypes_ = GlobalPrototypes(round.mean, silos_);
}

TensorMap LayeredServer::State() const {
  TensorMap state = Prefixed("prototypes/", prototypes_);
  for (int i = 0; i < silos_; ++i) {
    const std::string silo = std::to_string(i) + "/";
    state.merge(Prefixed("theta/" + silo, theta_[i]));
    if (networks_.empty()) continue;
    for (const auto& [name, network] : networks_[i]) {
      state.merge(Prefixed("network/" + silo + name + "/", network.State()));
    }
  }
  return state;
}

void LayeredServer::SetState(const TensorMap& state) {
  prototypes_ = Under("prototypes/", state);
  for (int i = 0; i < silos_; ++i) {
    const std::string silo = std::to_string(i) + "/";
    theta_[i] = Under("theta/" + silo, state);
    if (networks_.empty()) continue;
    for (auto& [name, network] : networks_[i]) {
      network.SetState(Under("network/" + silo + name + "/", state));
    }
  }
}

}  // namespace crossilo

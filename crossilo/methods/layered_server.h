#pragma once

#include "crossilo/methods/hypernetwork.h"
#include "crossilo/methods/method.h"

namespace crossilo {

struct LayeredOptions {
  enum class Mix { kHypernetwork, kIdentity, kUniform };
  Mix mix = Mix::kHypernetwork;
  bool sequential = true;
  HypernetworkOptions hypernetwork;

  static LayeredOptions From(const Config& table);
};

// The hub of PLFedCMH and its kin: the last weights of every silo, mixed layer
// by layer for each, and the mean of their prototypes.
class LayeredServer final : public Server {
 public:
  LayeredServer(const ServerSetup& setup, const LayeredOptions& options);

  Exchange exchange() const override;
  TensorMap Broadcast(int silo) const override;
  void Arrived(int silo, const TensorMap& gathered) override { Apply({{silo, gathered}}); }
  void Merge(const Merged& round) override;
  TensorMap Global() const override { return {}; }
  TensorMap State() const override;
  void SetState(const TensorMap& state) override;

  // By layer: what of every silo's layer goes into `silo`'s.  As Hypernetwork's.
  TensorMap Alpha(int silo) const;

 private:
  using Layer = std::vector<std::string>;  // names of its parameters

  TensorMap MixLayer(const Layer& layer, const std::vector<double>& shares) const;
  torch::Tensor GradientOf(int silo, const Layer& layer, const torch::Tensor& alpha,
                           const TensorMap& gathered) const;
  void Apply(const std::map<int, TensorMap>& gathered);

  LayeredOptions options_;
  int silos_;
  std::map<std::string, Layer> layers_;
  // Tensors in here are replaced, never written to: silos that have not trained
  // share the initial ones, and State() need not copy N models.
  std::vector<TensorMap> theta_;
  std::vector<std::map<std::string, Hypernetwork>> networks_;  // by silo and network
  TensorMap prototypes_;                                       // as broadcast
};

}  // namespace crossilo

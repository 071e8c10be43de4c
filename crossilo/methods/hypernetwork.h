#pragma once

#include <string>
#include <vector>

#include "crossilo/base/config.h"
#include "crossilo/base/random.h"
#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

struct HypernetworkOptions {
  int64_t embedding = 32, hidden = 32;
  double rate = 1e-3;           // of a step; 0: frozen
  bool descent = true;          // false: the other way, as PLFedCMH's code does
  bool embedding_only = false;  // a step moves nothing but the embedding

  static HypernetworkOptions From(const Config& table);
};

// Says how much of every silo's layer goes into one silo's: a small network at
// the hub for each silo and modality.  It makes no weights.
class Hypernetwork {
 public:
  Hypernetwork(const std::vector<std::string>& layers, int64_t silos,
               const HypernetworkOptions& options, Random random);

  // By layer: alpha, one number a silo, none negative; only ratios matter.
  TensorMap Alpha() const;
  // One step, given dG/dalpha of every layer, with G = <mixed weights, change
  // that training made to them>.  Training lowers its loss, so a larger G is
  // a lower loss, to first order.
  void Learn(const TensorMap& gradients);

  // Doubles: steps are many orders smaller than the weights they change.
  TensorMap State() const { return Copy(parameters_); }
  void SetState(const TensorMap& state);

 private:
  TensorMap Forward() const;

  std::vector<std::string> layers_;
  HypernetworkOptions options_;
  TensorMap parameters_;
};

// alpha over its sum.  Where the sum is 0, or no number: silo `own` alone.
std::vector<double> MixingShares(const torch::Tensor& alpha, int64_t own);

// dG/dalpha_j = (D_j - Dbar) / A with A = sum_j alpha_j, D_j = <theta_j, d>
// (of all j, up to a common constant) and Dbar their mean by share; zero where
// MixingShares is `own` alone for want of a sum.
torch::Tensor AlphaGradient(const torch::Tensor& alpha, const std::vector<double>& D);

}  // namespace crossilo

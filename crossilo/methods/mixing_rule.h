#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

// What the hub knows of one silo in a round, besides its layers.
struct Contribution {
  double samples = 0;  // that train
  double classes = 0;  // distinct labels among them; 1 without labels
  double loss = 0;
  double map = 0;  // 0 where none was sent
};

// One weight a contribution, of sum 1.
using MixingRule = std::function<std::vector<double>(const std::vector<Contribution>&)>;

// One value of every contribution, in their order.
inline std::vector<double> Each(const std::vector<Contribution>& all, double Contribution::*value) {
  std::vector<double> out;
  for (const Contribution& one : all) out.push_back(one.*value);
  return out;
}

// x_k / sum_j x_j; all alike where that sum is 0.  No x may be negative.
inline std::vector<double> Shares(std::vector<double> x) {
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  const double alike = 1 / static_cast<double>(x.size());
  for (double& one : x) one = sum > 0 ? one / sum : alike;
  return x;
}

// l_k / mean_j |l_j|, which for losses that are not negative is l_k / mean_j
// l_j, and never lies beyond the number of silos; 0 where all are.
inline std::vector<double> RelativeLosses(const std::vector<Contribution>& all) {
  std::vector<double> losses = Each(all, &Contribution::loss);
  double mean = 0;
  for (double l : losses) mean += std::abs(l) / static_cast<double>(all.size());
  for (double& l : losses) l = mean > 0 ? l / mean : 0;
  return losses;
}

inline std::vector<double> Softmax(std::vector<double> x) {
  const double most = *std::max_element(x.begin(), x.end());
  for (double& one : x) one = std::exp(one - most);
  return Shares(std::move(x));
}

// sum_k shares_k W_k of the silos' "w/<name>", in the order of their ids.
inline TensorMap MixedWeights(const std::map<int, TensorMap>& gathered,
                              const std::vector<double>& shares) {
  TensorMap W = ZerosLike(Under("w/", gathered.begin()->second));
  size_t k = 0;
  for (const auto& [silo, sent] : gathered) {
    for (auto& [name, sum] : W) sum.add_(sent.at("w/" + name), shares[k]);
    ++k;
  }
  return W;
}

}  // namespace crossilo

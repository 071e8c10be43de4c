#pragma once

#include <optional>

#include "crossilo/methods/wgan_networks.h"

namespace crossilo {

// What a silo tells the hub of its samples.
struct SynthesisUpload {
  torch::Tensor prototypes;   // C^k
  torch::Tensor labels = {};  // ClusterLabels of C^k; undefined unless the base needs labels
  TensorMap generator = {};   // empty where none is fit for use
  double theta = 0;           // quantile of its samples' distances to C^k
  double samples = 0;         // n_k

  TensorMap Sent() const;
  // Nothing where what was sent cannot be used; without a generator where that
  // one cannot.  `prototype_dims` and `label_dims` are the widths to expect;
  // label_dims 0: no labels.
  static std::optional<SynthesisUpload> From(const TensorMap& sent, const PairShape& shape,
                                             const WganOptions& options, int64_t prototype_dims,
                                             int64_t label_dims);
};

}  // namespace crossilo

#pragma once

#include <string>
#include <vector>

#include "crossilo/models/hash_model.h"

namespace crossilo {

// What DCMH and SHDCH have in common: a network a modality, Linear, ReLU,
// Linear, trained in turn.

struct TwoNetworkOptions {
  int64_t bits = 32;
  int64_t hidden_image = 1024, hidden_text = 1024;
  double deviation = -1;
  bool fresh = false;        // batches
  bool common_start = true;  // of what a learner keeps

  static TwoNetworkOptions From(const Config& table);
};

class TwoNetworks : public HashModel {
 public:
  TwoNetworks(const ModelShape& shape, const TwoNetworkOptions& options, Random random);
  int64_t code_dims() const override { return bits_; }

 protected:
  // hidden and raw.
  Encoded Forward(Modality modality, const torch::Tensor& x) const override;

 private:
  int64_t bits_;
};

// An epoch that trains one network after the other: about n / batch image
// steps, then as many text steps.  A pass takes every sample once, the last
// step what is left; with `fresh`, each of floor(n / batch) steps is a new
// random subset.  A silo smaller than the batch trains on all it has.
std::vector<Step> PlanAlternating(int64_t n, int64_t batch, bool fresh, Random& random);

}  // namespace crossilo

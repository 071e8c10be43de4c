#pragma once

#include <string>
#include <vector>

#include "crossilo/base/config.h"
#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

struct OptimizerOptions {
  std::string kind = "sgd";  // sgd, adam or rmsprop
  double learning_rate = 0.1;
  double momentum = 0;                                // sgd
  double weight_decay = 0;                            // added to the gradient, as torch does
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam
  double alpha = 0.99;                                // rmsprop: memory of the squared gradient
  double clip = 0;  // > 0: gradients of a step scaled to this norm at most

  static OptimizerOptions From(const Config& table);
};

// Moves parameters along their gradients: torch's SGD, Adam and RMSprop, one pass over
// memory instead of ten.  Keeps its moments by parameter name, so that one
// optimiser serves steps that train different networks.
class Optimizer {
 public:
  explicit Optimizer(const OptimizerOptions& options) : options_(options) {}

  // Updates the named parameters that have a gradient and drops it.
  void Step(TensorMap& parameters, const std::vector<std::string>& names);

  void set_learning_rate(double rate) { options_.learning_rate = rate; }
  const OptimizerOptions& options() const { return options_; }

  TensorMap State() const;
  void SetState(const TensorMap& state);

 private:
  void Sgd(const std::string& name, torch::Tensor& parameter, const torch::Tensor& gradient,
           double scale);
  void RmsProp(const std::string& name, torch::Tensor& parameter, const torch::Tensor& gradient,
               double scale);
  void Adam(const std::string& name, torch::Tensor& parameter, const torch::Tensor& gradient,
            double scale);

  OptimizerOptions options_;
  TensorMap moments_;  // "m/<name>", "v/<name>", "t/<name>" (steps taken)
};

}  // namespace crossilo

#pragma once

#include <memory>

#include "crossilo/methods/method.h"

namespace crossilo {

// A silo's model, its learner and its optimiser: what every client trains
// with.
class Trainer {
 public:
  explicit Trainer(const ClientSetup& setup);

  // One round of local epochs, with the silo's stream of that round and
  // purpose.  Any purpose but the default one goes on from the round's training:
  // the optimiser keeps its moments.
  TrainingResult Run(int round, const TrainingHooks& hooks = {}, const char* purpose = "training");

  HashModel& model() { return setup_.model; }
  const HashModel& model() const { return setup_.model; }
  const ClientSetup& setup() const { return setup_; }
  const Silo& silo() const { return setup_.silo; }
  double samples() const { return static_cast<double>(setup_.silo.size()); }

  TensorMap State() const;
  void SetState(const TensorMap& state);
  // With the model's weights, for a silo that keeps its own from round to round.
  TensorMap StateAndWeights() const;
  void SetStateAndWeights(const TensorMap& state);

 private:
  ClientSetup setup_;
  std::unique_ptr<Learner> learner_;
  Optimizer optimizer_;
};

}  // namespace crossilo

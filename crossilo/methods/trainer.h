#pragma once

#include <memory>

#include "crossilo/methods/method.h"

namespace crossilo {

// One of the trainings that make up a silo's round.
struct Phase {
  const char* name = "training";  // of its stream of random numbers
  int64_t epochs = 0;             // 0: training.local_epochs
  bool fresh_optimizer = true;    // unless training.keep_optimizer
  bool fresh_learner = true;      // a round begins for the learner; else it goes on
};

// A silo's model, its learner and its optimiser: what every client trains
// with.
class Trainer {
 public:
  explicit Trainer(const ClientSetup& setup);

  // One round of local epochs, with the silo's stream of that round and
  // phase.
  TrainingResult Run(int round, const TrainingHooks& hooks = {}, const Phase& phase = {});

  HashModel& model() { return setup_.model; }
  const HashModel& model() const { return setup_.model; }
  const ClientSetup& setup() const { return setup_; }
  const Silo& silo() const { return setup_.silo; }
  const torch::Tensor& Features(Modality m) const {
    return m == Modality::kImage ? silo().all.image : silo().all.text;
  }
  double samples() const { return static_cast<double>(setup_.silo.size()); }

  // Does something with other weights in the model and puts its own back.
  template <typename Work>
  void With(const TensorMap& weights, const Work& work) {
    const TensorMap now = Weights(model());
    SetWeights(model(), weights);
    work();
    SetWeights(model(), now);
  }

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

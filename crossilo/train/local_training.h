#pragma once

#include <functional>

#include "crossilo/models/hash_model.h"
#include "crossilo/train/optimizer.h"

namespace crossilo {

struct TrainingOptions {
  int64_t rounds = 30;
  int64_t local_epochs = 5;
  int64_t batch = 32;
  std::string schedule = "constant";  // constant, linear, geometric
  double final_learning_rate = 1e-6;  // where linear and geometric end
  bool keep_optimizer = false;        // moments survive from round to round
  OptimizerOptions optimizer;

  static TrainingOptions From(const Config& table);

  // The rate of an epoch counted over all rounds.
  double RateAt(int64_t epoch) const;
};

// One addend of a loss, named so that an Error can say which one broke.
struct LossTerm {
  const char* name;  // "L_C"
  torch::Tensor value;
};

// Where a federated method may change local training.
struct TrainingHooks {
  // Added to the model's own loss, at the first of the steps on a batch.
  std::function<std::vector<LossTerm>(const Step&, const Seen&)> extra_loss = {};
  // Called between backward() and the optimiser's step with the names that the
  // step trains; may change those parameters' gradients.
  std::function<void(TensorMap& parameters, const std::vector<std::string>& names)>
      adjust_gradients = {};
  // Called before every epoch, counted from 0 in every round.
  std::function<void(int epoch)> begin_epoch = {};
  // A step of the method's own after the learner's last one on a batch: its
  // loss from the batch's rows.  Moves both networks.
  std::function<std::vector<LossTerm>(const torch::Tensor& rows)> own_step = {};
  double own_factor = 1;              // of the model's own loss
  std::vector<Modality> trains = {};  // only these networks move; empty: both
  torch::Tensor only = {};            // bool, one a sample: train on these; undefined: on all
};

struct TrainingResult {
  int64_t steps = 0;
  double loss = 0;      // mean over the steps of the last epoch
  double loss_sum = 0;  // over all steps of all epochs
};

// One round of training at a silo, in place.  Throws Error when the loss stops
// being finite, naming the epoch, the step and the term.  `begins` is false for
// a further pass in the same round: the learner goes on with what it has.
TrainingResult TrainLocally(HashModel& model, Learner& learner, Optimizer& optimizer,
                            const TrainingOptions& options, int round, Random& random,
                            const TrainingHooks& hooks = {}, bool begins = true);

}  // namespace crossilo

#include "crossilo/methods/trainer.h"

#include <string_view>

namespace crossilo {

Trainer::Trainer(const ClientSetup& setup)
    : setup_(setup),
      learner_(setup.model.Learn(
          setup.silo, Random(setup.seed, {static_cast<uint64_t>(setup.silo.id)}, "learner"),
          Random(setup.seed, {}, "common start"))),
      optimizer_(setup.training.optimizer) {}

TrainingResult Trainer::Run(int round, const TrainingHooks& hooks, const char* purpose) {
  const bool begins = std::string_view(purpose) == "training";
  if (begins && !setup_.training.keep_optimizer) {
    optimizer_ = Optimizer(setup_.training.optimizer);
  }
  Random random(setup_.seed, {static_cast<uint64_t>(round), static_cast<uint64_t>(setup_.silo.id)},
                purpose);
  return TrainLocally(setup_.model, *learner_, optimizer_, setup_.training, round, random, hooks);
}

TensorMap Trainer::State() const {
  TensorMap state = Prefixed("learner/", learner_->State());
  if (setup_.training.keep_optimizer) state.merge(Prefixed("optimizer/", optimizer_.State()));
  return state;
}

void Trainer::SetState(const TensorMap& state) {
  learner_->SetState(Under("learner/", state));
  if (setup_.training.keep_optimizer) optimizer_.SetState(Under("optimizer/", state));
}

TensorMap Trainer::StateAndWeights() const {
  TensorMap state = Prefixed("trainer/", State());
  state.merge(Prefixed("weights/", Weights(model())));
  return state;
}

void Trainer::SetStateAndWeights(const TensorMap& state) {
  SetState(Under("trainer/", state));
  SetWeights(model(), Under("weights/", state));
}

}  // namespace crossilo

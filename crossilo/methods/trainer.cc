#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

using LossHook = decltype(TrainingHooks::extra_loss);

TrainingHooks WithStage(TrainingHooks hooks, const LossHook& stage) {
  if (!stage) return hooks;
  hooks.extra_loss = [method = hooks.extra_loss, stage](const Step& step, const Seen& seen) {
    std::vector<LossTerm> terms = method ? method(step, seen) : std::vector<LossTerm>{};
    for (const LossTerm& term : stage(step, seen)) terms.push_back(term);
    return terms;
  };
  return hooks;
}

}  // namespace

Trainer::Trainer(const ClientSetup& setup)
    : setup_(setup),
      learner_(setup.model.Learn(
          setup.silo, Random(setup.seed, {static_cast<uint64_t>(setup.silo.id)}, "learner"),
          Random(setup.seed, {}, "common start"))),
      optimizer_(setup.training.optimizer) {}

TrainingResult Trainer::Run(int round, const TrainingHooks& hooks, const Phase& phase) {
  TrainingOptions training = setup_.training;
  if (phase.epochs > 0) training.local_epochs = phase.epochs;
  if (phase.fresh_optimizer && !training.keep_optimizer) {
    optimizer_ = Optimizer(training.optimizer);
  }
  Random random(setup_.seed, {static_cast<uint64_t>(round), static_cast<uint64_t>(setup_.silo.id)},
                phase.name);
  return TrainLocally(setup_.model, *learner_, optimizer_, training, round, random,
                      WithStage(hooks, setup_.stage_loss), phase.fresh_learner);
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

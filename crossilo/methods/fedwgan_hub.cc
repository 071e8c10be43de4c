// The hub's half of FedWGAN; the paper stands in fedwgan.cc.

#include "crossilo/methods/fedwgan_hub.h"

#include "crossilo/base/error.h"
#include "crossilo/methods/facts_state.h"

namespace crossilo {

Random HubSynthesis::Stream(const char* purpose, int silo) const {
  return Random(setup_.seed, {round_, static_cast<uint64_t>(silo)}, purpose);
}

TensorMap HubSynthesis::Take(int silo, const TensorMap& gathered) {
  TensorMap rest, own = Under(kPrefix, gathered);
  for (const auto& [name, x] : gathered) {
    if (!name.starts_with(kPrefix)) rest[name] = x;
  }
  if (!own.empty()) sent_[silo] = std::move(own);
  const std::lock_guard lock(mutex_);
  const auto shift = shifts_.find(silo);
  if (shift == shifts_.end() || rest.empty()) return rest;
  for (const auto& [name, by] : shift->second) {
    const auto d = rest.find("d/" + name);
    if (d != rest.end()) d->second = d->second + by;
  }
  shifts_.erase(shift);
  return rest;
}

// One that reads pairs as generators make them.
std::unique_ptr<HashModel> HubSynthesis::ModelOf(const TensorMap& weights,
                                                 const TensorMap& context) const {
  auto model = setup_.make_model();
  model->SkipInput();
  SetWeights(*model, weights);
  if (!context.empty()) model->SetContext(context);
  return model;
}

void HubSynthesis::Generate(const TensorMap& weights, const TensorMap& context, size_t silos) {
  ++round_;
  const PairShape shape = PairShapeOf(*setup_.make_model(), o_.output);
  const auto stream = [this](const char* purpose, int silo) { return Stream(purpose, silo); };
  pairs_ = GeneratePairs(sent_, *ModelOf(weights, context), shape, o_, stream);
  pairs_.facts["generators_left_out"] =
      static_cast<double>(silos) - pairs_.facts["generators_used"];
  sent_.clear();
}

TensorMap HubSynthesis::Trained(const TensorMap& weights, const TensorMap& context) {
  const auto model = ModelOf(weights, context);
  pairs_.facts["global_loss"] = TrainOnPairs(*model, setup_.silos).loss;
  return Weights(*model);
}

void HubSynthesis::TrainSent(TensorMap& broadcast, const TensorMap& context, int silo) const {
  const TensorMap before = Under("w/", broadcast);
  const auto model = ModelOf(before, context);
  TrainOnPairs(*model, silo);
  const TensorMap after = Weights(*model);
  for (const auto& [name, w] : after) broadcast["w/" + name] = w;
  const std::lock_guard lock(mutex_);
  shifts_[silo] = after - before;
}

// The learner's state, such as a bank of codes, is new: pairs have no past.
TrainingResult HubSynthesis::TrainOnPairs(HashModel& model, int whose) const {
  TensorMap kept = Copy(pairs_.kept, DeviceOf(model));
  const Silo silo{.id = setup_.silos,
                  .name = "generated",
                  .all = {kept["image"], kept["text"], kept["labels"], kept["coarse"]}};
  TrainingOptions training = setup_.training;
  training.local_epochs = o_.global_epochs;
  if (o_.global_rate > 0) training.optimizer.learning_rate = o_.global_rate;
  const auto learner = model.Learn(silo, Stream("generated pairs' learner", whose),
                                   Random(setup_.seed, {}, "common start"));
  Optimizer optimizer(training.optimizer);
  Random random = Stream("training on generated pairs", whose);
  try {
    return TrainLocally(model, *learner, optimizer, training, static_cast<int>(round_), random);
  } catch (const Error& error) {
    throw Error("round {}, the hub's training on generated pairs: {}", round_, error.what());
  }
}

TensorMap HubSynthesis::State(bool with_pairs) const {
  TensorMap state = FactsAsTensors(pairs_.facts);
  state["round"] = torch::tensor(static_cast<int64_t>(round_));
  if (with_pairs) state.merge(Prefixed("kept/", pairs_.kept));
  return state;
}

void HubSynthesis::SetState(const TensorMap& state) {
  round_ = static_cast<uint64_t>(state.at("round").item<int64_t>());
  pairs_ = {.kept = Under("kept/", state), .facts = FactsIn(state)};
}

}  // namespace crossilo

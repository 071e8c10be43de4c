#include "crossilo/train/local_training.h"

#include <algorithm>
#include <cmath>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

const char* FirstBroken(const std::vector<LossTerm>& terms) {
  for (const LossTerm& term : terms) {
    if (!std::isfinite(term.value.item<double>())) return term.name;
  }
  return "the sum of the loss terms";
}

// The same samples without those that are not to be trained on, cut into
// batches again: fewer samples are fewer steps, not smaller ones.
std::vector<Step> Only(const torch::Tensor& mask, std::vector<Step> steps, int64_t batch) {
  if (!mask.defined()) return steps;
  std::vector<Step> kept;
  for (size_t at = 0; at < steps.size();) {
    const std::vector<Modality> trains = steps[at].trains;
    std::vector<torch::Tensor> rows;
    const int part = steps[at].part;
    const bool last = steps[at].last;
    for (; at < steps.size() && steps[at].trains == trains && steps[at].part == part; ++at) {
      rows.push_back(steps[at].rows.masked_select(mask.index_select(0, steps[at].rows)));
    }
    for (const torch::Tensor& some : torch::cat(rows).split(batch)) {
      if (some.size(0) > 0) kept.push_back({some, trains, part, last});
    }
  }
  return kept;
}

// The steps that move any of the given networks, and no other network.  What is
// left of a batch's steps has a last one too.
std::vector<Step> Moving(const std::vector<Modality>& trains, std::vector<Step> steps) {
  if (trains.empty()) return steps;
  std::vector<Step> kept;
  size_t batch = 0;  // where its steps begin among `kept`
  for (Step& step : steps) {
    const bool last = step.last;
    std::erase_if(step.trains, [&](Modality m) {
      return std::find(trains.begin(), trains.end(), m) == trains.end();
    });
    if (!step.trains.empty()) kept.push_back(std::move(step));
    if (!last) continue;
    if (kept.size() > batch) kept.back().last = true;
    batch = kept.size();
  }
  return kept;
}

// Returns the value of the terms' sum, along which it moves the named parameters.
double Descend(HashModel& model, Optimizer& optimizer, const std::vector<LossTerm>& terms,
               const std::vector<std::string>& names, const TrainingHooks& hooks) {
  torch::Tensor loss = terms.front().value;
  for (size_t i = 1; i < terms.size(); ++i) loss = loss + terms[i].value;
  const double value = loss.item<double>();
  if (!std::isfinite(value)) {
    throw Error("{} is not finite; a smaller training.learning_rate or training.clip helps",
                FirstBroken(terms));
  }
  loss.backward();
  if (hooks.adjust_gradients) hooks.adjust_gradients(model.parameters(), names);
  optimizer.Step(model.parameters(), names);
  return value;
}

// Returns the value of the step's loss.
double TakeStep(HashModel& model, Learner& learner, Optimizer& optimizer, const Step& step,
                const TrainingHooks& hooks) {
  Seen seen;
  torch::Tensor loss = learner.Loss(step, seen);
  if (hooks.own_factor != 1) loss = hooks.own_factor * loss;
  std::vector<LossTerm> terms = {{"the model's own loss", loss}};
  if (hooks.extra_loss && step.part == 0) {
    for (const LossTerm& extra : hooks.extra_loss(step, seen)) terms.push_back(extra);
  }
  const double value = Descend(model, optimizer, terms, model.ParametersOf(step.trains), hooks);
  learner.AfterStep(step);
  if (hooks.own_step && step.last) {
    const std::vector<LossTerm> own = hooks.own_step(step.rows);
    const std::vector<Modality> both(std::begin(kModalities), std::end(kModalities));
    if (!own.empty()) Descend(model, optimizer, own, model.ParametersOf(both), hooks);
  }
  return value;
}

}  // namespace

TrainingOptions TrainingOptions::From(const Config& table) {
  TrainingOptions o;
  o.rounds = table.Int("rounds", o.rounds, "how often the silos train and are merged", 0);
  o.local_epochs = table.Int("local_epochs", o.local_epochs, "epochs of a silo in a round", 1);
  o.batch = table.Int("batch", o.batch, "samples of a step", 1);
  o.optimizer = OptimizerOptions::From(table);
  o.schedule = table.Choice("schedule", o.schedule, {"constant", "linear", "geometric"},
                            "how the step size moves over all epochs of all rounds");
  o.final_learning_rate = table.Real("final_learning_rate", o.final_learning_rate,
                                     "step size of the last epoch, unless constant", 0);
  o.keep_optimizer =
      table.Flag("keep_optimizer", o.keep_optimizer, "moments survive from round to round");
  return o;
}

double TrainingOptions::RateAt(int64_t epoch) const {
  const double first = optimizer.learning_rate, last = final_learning_rate;
  const int64_t epochs = rounds * local_epochs;
  if (schedule == "constant" || epochs < 2) return first;
  const double t = static_cast<double>(epoch) / static_cast<double>(epochs - 1);
  if (schedule == "linear") return first + t * (last - first);
  return first * std::pow(last / first, t);
}

TrainingResult TrainLocally(HashModel& model, Learner& learner, Optimizer& optimizer,
                            const TrainingOptions& options, int round, Random& random,
                            const TrainingHooks& hooks, bool begins) {
  TrainingResult result;
  if (begins) learner.BeginRound(random);
  for (int epoch = 0; epoch < options.local_epochs; ++epoch) {
    optimizer.set_learning_rate(options.RateAt((round - 1) * options.local_epochs + epoch));
    if (hooks.begin_epoch) hooks.begin_epoch(epoch);
    const std::vector<Step> steps =
        Moving(hooks.trains,
               Only(hooks.only, learner.PlanEpoch(epoch, options.batch, random), options.batch));
    double sum = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      try {
        sum += TakeStep(model, learner, optimizer, steps[i], hooks);
      } catch (const Error& error) {
        throw Error("epoch {}, step {}: {}", epoch + 1, i + 1, error.what());
      }
    }
    learner.EndEpoch();
    result.steps += static_cast<int64_t>(steps.size());
    result.loss_sum += sum;
    result.loss = steps.empty() ? 0 : sum / static_cast<double>(steps.size());
  }
  return result;
}

}  // namespace crossilo

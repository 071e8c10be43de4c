// The machinery of FedCMR and FedSCMR; the papers stand in fedcmr.cc and
// fedscmr.cc.

#include "crossilo/methods/subspace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/methods/trainer.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

constexpr int64_t kMostMeasured = 1000;

// floor(share n), not a sample less for the rounding of the product.
int64_t Part(double share, int64_t n) {
  return static_cast<int64_t>(std::floor(share * static_cast<double>(n) + 1e-9));
}

// A silo's samples, dealt once for the whole run.
struct Dealt {
  Silo training;
  torch::Tensor measured;  // rows of the silo dealt

  Dealt(const Silo& silo, double validation, uint64_t seed) : training(silo) {
    Random random(seed, {static_cast<uint64_t>(silo.id)}, "measured samples");
    const torch::Tensor order = RandomPermutation(silo.size(), random);
    const int64_t held = Part(validation, silo.size());
    if (held > 0) training.all = silo.all.Select(std::get<0>(order.slice(0, held).sort()));
    measured = order.slice(0, 0, std::min(kMostMeasured, held > 0 ? held : silo.size()));
  }
};

std::vector<std::string> TravellingNames(const HashModel& model, bool all_layers) {
  std::vector<std::string> names;
  if (all_layers) {
    for (const auto& [name, parameter] : model.parameters()) names.push_back(name);
    return names;
  }
  for (const std::string& layer : model.LastLayers()) {
    names.insert(names.end(), {layer + ".weight", layer + ".bias"});
  }
  return names;
}

class MixedClient final : public Client {
 public:
  MixedClient(const ClientSetup& setup, const SubspaceOptions& options)
      : silo_(setup.silo),
        dealt_(setup.silo, options.validation, setup.seed),
        options_(options),
        names_(TravellingNames(setup.model, options.all_layers)),
        // Without setup.stage_loss, which knows samples by their numbers in the
        // whole silo: a stage such as FedWGAN does not hold these methods.
        trainer_({dealt_.training, setup.model, setup.training, setup.seed, setup.silos}) {}

  Update Train(int round) override {
    round_ = round;
    W_old_ = Travelling();
    Split();
    const TrainingResult result = trainer_.Run(round, {.only = first_});
    TensorMap sent = Prefixed("w/", Travelling());
    const auto send = [&](const char* name, double x) {
      sent[name] = torch::full({1}, x, torch::kFloat);
    };
    const torch::Tensor& labels = dealt_.training.all.labels;
    send("samples", trainer_.samples());
    send("classes", labels.defined() ? labels.gt(0).any(0).sum().item<double>() : 1);
    send("loss", result.*options_.loss);
    if (options_.score) {
      send("map", options_.score(trainer_.model(), silo_.all.Select(dealt_.measured)));
    }
    return {.gathered = sent, .weight = trainer_.samples(), .loss = result.loss};
  }

  void Receive(const TensorMap& W) override {
    Correct(W);
    if (first_.defined())
      trainer_.Run(round_, {.only = ~first_}, {.name = "refinement", .fresh_optimizer = false});
    first_ = torch::Tensor();
    W_old_.clear();
  }

  TensorMap State() const override { return trainer_.StateAndWeights(); }
  void SetState(const TensorMap& state) override { trainer_.SetStateAndWeights(state); }

 private:
  TensorMap Travelling() const {
    TensorMap travelling;
    for (const std::string& name : names_) {
      travelling[name] = trainer_.model().parameters().at(name);
    }
    return Copy(travelling);
  }

  // A silo whose second part would be empty trains on all it has, once.
  void Split() {
    const int64_t n = dealt_.training.size(), second = Part(options_.refine, n);
    first_ = torch::Tensor();
    if (second == 0) return;
    Random random(trainer_.setup().seed,
                  {static_cast<uint64_t>(round_), static_cast<uint64_t>(silo_.id)}, "refined part");
    first_ = torch::ones({n}, torch::kBool);
    first_.index_fill_(0, RandomPermutation(n, random).slice(0, 0, second), false);
  }

  // W_k <- W - r (W_k - W_old).  Before the first training there is no update
  // to correct by.
  void Correct(const TensorMap& W) {
    torch::NoGradGuard no_grad;
    const double r = W_old_.empty() ? 0 : options_.residual;
    for (const auto& [name, W_k] : Travelling()) {
      const auto mixed = W.find(name);
      if (mixed == W.end()) {
        throw Error("the hub's reply has no '{}'; run it with this silo's model and settings",
                    name);
      }
      trainer_.model().parameters().at(name).copy_(
          r == 0 ? mixed->second : mixed->second - r * (W_k - W_old_.at(name)));
    }
  }

  const Silo& silo_;
  Dealt dealt_;
  SubspaceOptions options_;
  std::vector<std::string> names_;  // of what travels
  Trainer trainer_;
  // From a round's training to its reply; a checkpoint is never written between.
  int round_ = 0;
  TensorMap W_old_;
  torch::Tensor first_;  // bool, one a sample: trains before the reply, the others after
};

Contribution ContributionIn(const TensorMap& sent) {
  const auto read = [&](const char* name) {
    const auto scalar = sent.find(name);
    return scalar == sent.end() ? 0 : scalar->second.item<double>();
  };
  return {.samples = read("samples"),
          .classes = read("classes"),
          .loss = read("loss"),
          .map = read("map")};
}

class MixingServer final : public Server {
 public:
  MixingServer(const ServerSetup& setup, bool all_layers, MixingRule rule)
      : all_layers_(all_layers),
        rule_(std::move(rule)),
        W_(all_layers ? setup.initial : TensorMap()) {}

  Exchange exchange() const override { return Exchange::kReplied; }
  TensorMap Broadcast(int) const override { return W_; }

  void Merge(const Merged& round) override {
    std::vector<Contribution> all;
    for (const auto& [silo, sent] : round.gathered) all.push_back(ContributionIn(sent));
    W_ = MixedWeights(round.gathered, rule_(all));
  }

  TensorMap Global() const override { return all_layers_ ? W_ : TensorMap(); }
  TensorMap State() const override { return W_; }
  void SetState(const TensorMap& state) override { W_ = state; }

 private:
  bool all_layers_;
  MixingRule rule_;
  TensorMap W_;
};

}  // namespace

std::unique_ptr<Client> SubspaceClient(const ClientSetup& setup, const SubspaceOptions& options) {
  return std::make_unique<MixedClient>(setup, options);
}

std::unique_ptr<Server> SubspaceServer(const ServerSetup& setup, bool all_layers, MixingRule rule) {
  return std::make_unique<MixingServer>(setup, all_layers, std::move(rule));
}

}  // namespace crossilo

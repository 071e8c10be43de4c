// SCAFFOLD: every local step is corrected by what the silo's gradients differ
// from everybody's, as its control variate c_k and the hub's c know them.
//
// Karimireddy et al., SCAFFOLD: Stochastic Controlled Averaging for Federated
// Learning, ICML 2020, Algorithm 1.
//
//   step   y <- y - rate (g(y) - c_k + c)
//   silo   c_k+ = c_k - c + (w_t - y) / sum of rates     weights (Option II)
//          c_k+ = mean of g(y) over the round's steps    gradients
//          dy = y - w_t,  dc = c_k+ - c_k
//   hub    w <- w + server_rate mean dy,  c <- c + |S|/N mean dc
//
// For plain SGD at one rate both c_k+ are the same number; with momentum rho a
// step moves rate/(1 - rho) in the long run; for Adam only the second has a
// meaning, and using it there is our deviation.  Steps are counted parameter
// by parameter: a model may train its networks in turn.  With c_k = c, as in
// the first round or with one silo, it is FedAvg.

#include <cmath>
#include <map>

#include "crossilo/methods/averaging.h"
#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

// What the steps of a round add up to that trained one parameter.
struct Passed {
  double steps = 0, rates = 0;
  torch::Tensor gradients;  // before the correction; undefined unless asked for
};

bool ByGradients(const Config& table, const OptimizerOptions& optimizer) {
  const std::string variates = table.Choice(
      "variates", "auto", {"auto", "weights", "gradients"},
      "a silo's control variate: from how far its weights moved, or the mean of its gradients; "
      "auto: weights with sgd, gradients with adam");
  return variates == "gradients" || (variates == "auto" && optimizer.kind == "adam");
}

class ScaffoldClient final : public Client {
 public:
  ScaffoldClient(const ClientSetup& setup, const Config& table)
      : trainer_(setup),
        weight_(AveragingWeight(table, trainer_.samples())),
        by_gradients_(ByGradients(table, setup.training.optimizer)),
        c_k_(ZerosLike(Weights(setup.model))) {}

  void Receive(const TensorMap& broadcast) override {
    SetWeights(trainer_.model(), broadcast);
    c_ = Under("c/", broadcast);
  }

  Update Train(int round) override {
    const TensorMap w_t = Weights(trainer_.model());
    std::map<std::string, Passed> passed;
    const double loss = trainer_.Run(round, Hooks(round, passed)).loss;
    const TensorMap moved = Weights(trainer_.model()) - w_t;

    Update update{.sums = Prefixed("dy/", moved), .weight = weight_, .loss = loss};
    const double share = weight_ > 0 ? 1 / weight_ : 0;
    update.sums["share"] = torch::full({1}, share);
    for (auto& [name, c_k] : c_k_) {
      const torch::Tensor dc = NewVariate(name, passed[name], moved.at(name)) - c_k;
      update.sums["dc/" + name] = share * dc;
      c_k = c_k + dc;  // exactly what the hub is told
    }
    return update;
  }

  TensorMap State() const override {
    TensorMap state = Prefixed("trainer/", trainer_.State());
    state.merge(Prefixed("c_k/", Copy(c_k_)));
    return state;
  }
  void SetState(const TensorMap& state) override {
    trainer_.SetState(Under("trainer/", state));
    c_k_ = Copy(Under("c_k/", state));
  }

 private:
  TrainingHooks Hooks(int round, std::map<std::string, Passed>& passed) {
    TrainingHooks hooks;
    hooks.begin_epoch = [this, round](int epoch) {
      const TrainingOptions& training = trainer_.setup().training;
      rate_ = training.RateAt((round - 1) * training.local_epochs + epoch);
    };
    const torch::Device device = trainer_.model().parameters().begin()->second.device();
    hooks.adjust_gradients = [this, &passed, drift = Copy(c_ - c_k_, device)](
                                 TensorMap& parameters, const std::vector<std::string>& names) {
      torch::NoGradGuard no_grad;
      for (const std::string& name : names) {
        torch::Tensor& w = parameters.at(name);
        if (!w.grad().defined()) continue;
        Passed& sum = passed[name];
        sum.steps += 1;
        sum.rates += rate_;
        if (by_gradients_ && !sum.gradients.defined()) sum.gradients = torch::zeros_like(w);
        if (by_gradients_) sum.gradients.add_(w.grad());
        w.mutable_grad().add_(drift.at(name));
      }
    };
    return hooks;
  }

  // c_k+ of a parameter that moved by y - w_t; one that no step trained keeps
  // its c_k.
  torch::Tensor NewVariate(const std::string& name, const Passed& sum,
                           const torch::Tensor& moved) const {
    const torch::Tensor& c_k = c_k_.at(name);
    if (sum.steps == 0) return c_k;
    if (by_gradients_) return (sum.gradients / sum.steps).to(c_k.device());
    const OptimizerOptions& o = trainer_.setup().training.optimizer;
    const double way = sum.rates / (1 - (o.kind == "sgd" ? o.momentum : 0));
    // No rate, no news; momentum 1 has no long run.
    if (!(way > 0) || std::isinf(way)) return c_k;
    return c_k - c_.at(name) - moved / way;
  }

  Trainer trainer_;
  double weight_;
  bool by_gradients_;
  TensorMap c_k_, c_;
  double rate_ = 0;  // of the epoch under way
};

class ScaffoldServer final : public Server {
 public:
  ScaffoldServer(const ServerSetup& setup, const Config& table)
      : rate_(table.Real("server_rate", 1,
                         "how far the hub goes along the silos' mean change; 1: to their mean", 0)),
        silos_(setup.silos),
        w_(setup.initial),
        c_(ZerosLike(w_)) {}

  TensorMap Broadcast(int) const override {
    TensorMap out = w_;
    out.merge(Prefixed("c/", c_));
    return out;
  }

  // dy counts silos by their weights n_k, dc all alike.  A silo therefore sends
  // dc_k / n_k and the share 1 / n_k, whose means have the ratio
  //   (sum_k n_k dc_k / n_k) / (sum_k n_k / n_k) = 1/|S| sum_k dc_k.
  void Merge(const Merged& round) override {
    w_ = w_ + rate_ * Under("dy/", round.mean);
    const double share = round.mean.at("share").item<double>();
    if (!(share > 0)) return;  // silos without samples
    const double part = static_cast<double>(round.gathered.size()) / silos_;  // |S|/N
    c_ = c_ + (part / share) * Under("dc/", round.mean);
  }

  TensorMap Global() const override { return w_; }
  TensorMap State() const override { return Broadcast(0); }
  void SetState(const TensorMap& state) override {
    for (auto& [name, w] : w_) w = state.at(name);
    c_ = Under("c/", state);
  }

 private:
  double rate_;
  int silos_;  // N
  TensorMap w_, c_;
};

}  // namespace

Method Scaffold() {
  return {.name = "scaffold",
          .summary = "fedavg whose local steps are corrected for each silo's drift (ICML 2020)",
          .sends = "weight and variate changes (in a sum)",
          .make_client = NewClient<ScaffoldClient>,
          .make_server = NewServer<ScaffoldServer>};
}

}  // namespace crossilo

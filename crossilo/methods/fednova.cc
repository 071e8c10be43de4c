// FedNova: a silo that took more steps does not pull further.  Every change is
// divided by its own number of steps, and the hub goes as far along the mean
// as the silos went on average.
//
// Wang et al., Tackling the Objective Inconsistency Problem in Heterogeneous
// Federated Optimization, NeurIPS 2020.
//
//   d_k = (w_t - w_k) / a_k,   tau_eff = sum_k p_k a_k,   p_k = n_k/n
//   w  <- w - tau_eff sum_k p_k d_k
//   a_k = tau_k,  and with momentum rho
//         [tau_k - rho (1 - rho^tau_k) / (1 - rho)] / (1 - rho)
//
// tau_k is counted parameter by parameter: a model may train its networks in
// turn.  Adam has no a_k of its own and takes tau_k.  With equal a_k it is
// FedAvg.

#include "crossilo/methods/averaging.h"
#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

// a_k step by step, which also holds for rho = 1: after tau unit gradients the
// momentum is m = 1 + rho + ... + rho^(tau-1), and a is the sum of all m.
struct Normalizer {
  double m = 0, a = 0;
  void Step(double rho) {
    m = rho * m + 1;
    a += m;
  }
};

class FedNovaClient final : public Client {
 public:
  FedNovaClient(const ClientSetup& setup, const Config& table)
      : trainer_(setup), weight_(AveragingWeight(table, trainer_.samples())) {
    const OptimizerOptions& optimizer = setup.training.optimizer;
    if (optimizer.kind == "sgd") rho_ = optimizer.momentum;
  }

  void Receive(const TensorMap& w) override { SetWeights(trainer_.model(), w); }

  Update Train(int round) override {
    const TensorMap w_t = Weights(trainer_.model());
    std::map<std::string, Normalizer> normalizers;
    const auto count = [&](TensorMap& parameters, const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        if (parameters.at(name).grad().defined()) normalizers[name].Step(rho_);
      }
    };
    const double loss = trainer_.Run(round, {.adjust_gradients = count}).loss;
    Update update{.weight = weight_, .loss = loss};
    for (const auto& [name, w_k] : Weights(trainer_.model())) {
      const double a_k = normalizers[name].a;
      // What no step trained has not moved.
      update.sums["d/" + name] = a_k > 0 ? (w_t.at(name) - w_k) / a_k : torch::zeros_like(w_k);
      update.sums["a/" + name] = torch::full({1}, a_k);
    }
    return update;
  }

  TensorMap State() const override { return trainer_.State(); }
  void SetState(const TensorMap& state) override { trainer_.SetState(state); }

 private:
  Trainer trainer_;
  double weight_;  // n_k
  double rho_ = 0;
};

class FedNovaServer final : public Server {
 public:
  FedNovaServer(const ServerSetup& setup, const Config&) : w_(setup.initial) {}

  TensorMap Broadcast(int) const override { return w_; }
  void Merge(const Merged& round) override {
    for (auto& [name, w] : w_) {
      const double tau_eff = round.mean.at("a/" + name).item<double>();
      w = w - tau_eff * round.mean.at("d/" + name);
    }
  }
  TensorMap Global() const override { return w_; }
  TensorMap State() const override { return w_; }
  void SetState(const TensorMap& state) override { w_ = state; }

 private:
  TensorMap w_;
};

}  // namespace

Method FedNova() {
  return {
      .name = "fednova",
      .summary = "fedavg of changes per step, whatever number of steps silos take (NeurIPS 2020)",
      .sends = "weight changes per step and step counts (in a sum)",
      .make_client = NewClient<FedNovaClient>,
      .make_server = NewServer<FedNovaServer>};
}

}  // namespace crossilo

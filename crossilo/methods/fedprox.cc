// FedProx: FedAvg with a term that holds local weights near the global ones.
//
// T. Li et al., Federated Optimization in Heterogeneous Networks, MLSys 2020,
// Algorithm 2.  With mu = 0 it is FedAvg.

#include "crossilo/methods/averaging.h"
#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

class FedProxClient final : public Client {
 public:
  FedProxClient(const ClientSetup& setup, const Config& table)
      : trainer_(setup),
        weight_(AveragingWeight(table, trainer_.samples())),
        mu_(table.Real("mu", 0.001,
                       "pull of local weights to the global ones; DCMH's loss is divided by n and "
                       "batch, so large values freeze it",
                       0)) {}

  void Receive(const TensorMap& w) override {
    w_t_ = w;
    SetWeights(trainer_.model(), w);
  }

  Update Train(int round) override {
    // h(w; w_t) = F(w) + mu/2 |w - w_t|^2, whose gradient is F' + mu (w - w_t).
    const auto proximal = [this](TensorMap& parameters, const std::vector<std::string>& names) {
      torch::NoGradGuard no_grad;
      for (const std::string& name : names) {
        torch::Tensor& w = parameters.at(name);
        if (w.grad().defined()) w.mutable_grad().add_(w - w_t_.at(name).to(w.device()), mu_);
      }
    };
    const double loss =
        trainer_.Run(round, mu_ > 0 ? TrainingHooks{.adjust_gradients = proximal} : TrainingHooks{})
            .loss;
    return {.sums = Weights(trainer_.model()), .weight = weight_, .loss = loss};
  }

  TensorMap State() const override { return trainer_.State(); }
  void SetState(const TensorMap& state) override { trainer_.SetState(state); }

 private:
  Trainer trainer_;
  double weight_, mu_;
  TensorMap w_t_;  // the global weights of this round
};

}  // namespace

Method FedProx() {
  return {.name = "fedprox",
          .summary = "fedavg whose local weights are held near the global ones (MLSys 2020)",
          .sends = "weights (in a sum)",
          .make_client = NewClient<FedProxClient>,
          .make_server = NewServer<AveragingServer>};
}

}  // namespace crossilo

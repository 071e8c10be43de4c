// FedAvg: average the weights of locally trained models by sample count.
//
// McMahan et al., Communication-Efficient Learning of Deep Networks from
// Decentralized Data, AISTATS 2017, Algorithm 1.  With one silo it is local
// training.

#include "crossilo/methods/averaging.h"
#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

class FedAvgClient final : public Client {
 public:
  FedAvgClient(const ClientSetup& setup, const Config& table)
      : trainer_(setup), weight_(AveragingWeight(table, trainer_.samples())) {}

  void Receive(const TensorMap& w) override { SetWeights(trainer_.model(), w); }

  Update Train(int round) override {
    const double loss = trainer_.Run(round).loss;
    return {.sums = Weights(trainer_.model()), .weight = weight_, .loss = loss};
  }

  TensorMap State() const override { return trainer_.State(); }
  void SetState(const TensorMap& state) override { trainer_.SetState(state); }

 private:
  Trainer trainer_;
  double weight_;  // n_k
};

}  // namespace

Method FedAvg() {
  return {.name = "fedavg",
          .summary = "the mean of the silos' weights by sample count (AISTATS 2017)",
          .sends = "weights (in a sum)",
          .make_client = NewClient<FedAvgClient>,
          .make_server = NewServer<AveragingServer>};
}

}  // namespace crossilo

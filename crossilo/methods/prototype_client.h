#pragma once

#include <functional>

#include "crossilo/methods/prototypes.h"
#include "crossilo/methods/trainer.h"

namespace crossilo {

struct PrototypeOptions {
  bool prototypes = true;   // collected, sent and pulled to; false: nothing of it
  bool first = false;       // of several labels the first speaks for a sample
  bool by_samples = false;  // a silo's share of a class's mean
  bool by_class = false;    // O_1 compares class means, not samples
  double pull = 1;          // of O_1
  double beta = 0;          // of |rL - F P^T|^2
  bool bounded = false;     // there with tanh(P): prototypes are means before the activation
  // The losses are divided by (samples of the silo x rows of the batch), as
  // sums over both are.
  bool over_samples = false;
  // The hub sends weights "w/<name>" every round and is sent their changes
  // "d/<name>"; false: the silo keeps its own and neither travels.
  bool sends_changes = false;
  // The share goes to the hub silo by silo, not in a sum.
  bool gathered = false;
  // Done to a share before it leaves the silo.
  std::function<void(int round, const PrototypeSums& sums, TensorMap& share)> protect = {};

  // The keys of every method with prototypes.
  static PrototypeOptions From(const Config& table);
  // And those of PLFedCMH and its kin, whose paper's beta is given.
  static PrototypeOptions Layered(const Config& table, double beta);
};

// The client of methods whose silos are held together by class prototypes.
class PrototypeClient final : public Client {
 public:
  PrototypeClient(const ClientSetup& setup, PrototypeOptions options);

  void Receive(const TensorMap& broadcast) override;
  Update Train(int round) override;
  TensorMap State() const override;
  void SetState(const TensorMap& state) override;

 private:
  std::vector<LossTerm> Terms(const Step& step, const Seen& seen);

  PrototypeOptions options_;
  Trainer trainer_;
  PrototypeSums sums_;  // of the epoch under way
  Prototypes image_, text_;
  TensorMap received_;  // weights, until their change is sent
};

}  // namespace crossilo

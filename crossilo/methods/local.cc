// Local: every silo trains alone for as many epochs as it would in a
// federation.  Nothing is sent.  On a partition with one silo that holds
// everything it is centralised training.

#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

class LocalClient final : public Client {
 public:
  LocalClient(const ClientSetup& setup, const Config&) : trainer_(setup) {}

  void Receive(const TensorMap&) override {}

  Update Train(int round) override { return {.loss = trainer_.Run(round).loss}; }

  TensorMap State() const override { return trainer_.StateAndWeights(); }
  void SetState(const TensorMap& state) override { trainer_.SetStateAndWeights(state); }

 private:
  Trainer trainer_;
};

class LocalServer final : public Server {
 public:
  LocalServer(const ServerSetup&, const Config&) {}

  TensorMap Broadcast(int) const override { return {}; }
  void Merge(const Merged&) override {}
  TensorMap Global() const override { return {}; }
  TensorMap State() const override { return {}; }
  void SetState(const TensorMap&) override {}
};

}  // namespace

Method Local() {
  return {.name = "local",
          .summary = "every silo trains alone; with partition.kind = \"pooled\": centralized",
          .sends = "nothing",
          .personal = true,
          .make_client = NewClient<LocalClient>,
          .make_server = NewServer<LocalServer>};
}

}  // namespace crossilo

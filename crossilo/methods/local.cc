// Local: every silo trains alone for as many epochs as it would in a
// federation.  Nothing is sent.  On a partition with one silo that holds
// everything it is centralised training.

#include "crossilo/methods/trainer.h"

namespace crossilo {
namespace {

class LocalClient final : public Client {
 public:
  explicit LocalClient(const ClientSetup& setup) : trainer_(setup) {}

  void Receive(const TensorMap&) override {}

  Update Train(int round) override { return {.loss = trainer_.Run(round).loss}; }

  TensorMap State() const override {
    TensorMap state = Prefixed("trainer/", trainer_.State());
    state.merge(Prefixed("weights/", Weights(trainer_.model())));
    return state;
  }
  void SetState(const TensorMap& state) override {
    trainer_.SetState(Under("trainer/", state));
    SetWeights(trainer_.model(), Under("weights/", state));
  }

 private:
  Trainer trainer_;
};

class LocalServer final : public Server {
 public:
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
          .make_client = [](const ClientSetup& setup, const Config&) -> std::unique_ptr<Client> {
            return std::make_unique<LocalClient>(setup);
          },
          .make_server = [](const ServerSetup&, const Config&) -> std::unique_ptr<Server> {
            return std::make_unique<LocalServer>();
          }};
}

}  // namespace crossilo

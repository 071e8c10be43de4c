// FedProto: silos keep their own weights and share class prototypes.
//
// Tan et al., FedProto: Federated Prototype Learning across Heterogeneous
// Clients, AAAI 2022.
//
//   L = L_base + lambda MSE(raw_b, P[labels_b])
//
// P is the mean over the owners of a class, all alike as in the authors' code;
// the paper weighs them by their samples (prototype_weights = "samples").  With
// lambda = 0 it is `local`.

#include "crossilo/methods/prototype_client.h"

namespace crossilo {
namespace {

class FedProtoServer final : public Server {
 public:
  explicit FedProtoServer(int silos) : silos_(silos) {}

  TensorMap Broadcast(int) const override { return prototypes_; }
  void Merge(const Merged& round) override { prototypes_ = GlobalPrototypes(round.mean, silos_); }
  TensorMap Global() const override { return {}; }
  TensorMap State() const override { return prototypes_; }
  void SetState(const TensorMap& state) override { prototypes_ = state; }

 private:
  int silos_;
  TensorMap prototypes_;
};

}  // namespace

Method FedProto() {
  return {
      .name = "fedproto",
      .summary = "every silo its own model, held together by class prototypes (AAAI 2022)",
      .sends = "class prototypes (in a sum)",
      .personal = true,
      .make_client = [](const ClientSetup& setup, const Config& table) -> std::unique_ptr<Client> {
        PrototypeOptions options = PrototypeOptions::From(table);
        options.pull = table.Real(
            "lambda", 1, "pull of outputs to their classes' prototypes; 0: silos train alone", 0);
        return std::make_unique<PrototypeClient>(setup, options);
      },
      .make_server = [](const ServerSetup& setup, const Config&) -> std::unique_ptr<Server> {
        return std::make_unique<FedProtoServer>(setup.silos);
      }};
}

}  // namespace crossilo

// FedWGAN: a stage around another method.  Every silo trains a WGAN on its
// pairs and sends the generator; the hub trains the merged model further on
// generated pairs that lie near the silos' prototypes.
//
// Zhang et al., Generating Synthetic Data for Unsupervised Federated Learning
// of Cross-Modal Retrieval, AAAI 2025.
//
//   each round t = 1..R, a = 1 - (t - 1)/(2R):
//   silo  F = [F^I, F^T], what the base reads;  C^k = k-means(F, M)
//         the inner method's training, + gamma a JSD(Q^I || Q^T) where an input
//         layer can move F
//         6 steps of the critic D_k for each of the generator G_k, on
//         L_G + lambda L_c + gamma (1 - a) JSD(Q_g^I || Q_g^T)
//         sends C^k, G_k and what the inner method sends
//   hub   the inner method's merge;  C^G = k-means of all C^k, M clusters
//         mu n_k pairs of every generator; kept: 1 - max_m cos(F_g, C_m^G) <= theta
//         the merged model trained on them
//
// The silo's part stands in fedwgan_silo.cc, its losses in synthesis_losses.cc
// and wgan.cc; the hub's pairs in fedwgan_pairs.cc, its training in
// fedwgan_hub.cc.  With gan = false, or where nothing is kept, it is the inner
// method.

#include "crossilo/base/error.h"
#include "crossilo/methods/fedwgan_hub.h"
#include "crossilo/methods/fedwgan_silo.h"

namespace crossilo {
namespace {

const Method& InnerMethod(const Config& table) {
  const Method& inner = FindMethod(
      table.Text("inner", "fedavg", "the method inside; its keys are in the table of its name"));
  if (inner.name == "fedwgan") {
    throw Error("method.inner = 'fedwgan': it cannot hold itself; use a method such as fedavg");
  }
  return inner;
}

Facts Joined(Facts facts, const Facts& more) {
  facts.insert(more.begin(), more.end());
  return facts;
}

class FedWganClient final : public Client {
 public:
  FedWganClient(const ClientSetup& setup, const Config& table)
      : o_(FedWganOptions::From(table)), synthesis_(setup, o_) {
    ClientSetup inner = setup;
    if (o_.gan && o_.literal_steps) inner.training.local_epochs *= o_.wgan.critic_steps + 1;
    if (synthesis_.AlignsReal()) {
      inner.stage_loss = [this](const Step& step, const Seen& seen) {
        return synthesis_.RealJsd(step, seen);
      };
    }
    const Method& method = InnerMethod(table);
    inner_ = method.make_client(inner, table.Table(method.name));
  }

  void Receive(const TensorMap& broadcast) override { inner_->Receive(broadcast); }

  Update Train(int round) override {
    synthesis_.Begin(round);
    Update update = inner_->Train(round);
    if (o_.gan) update.gathered.merge(Prefixed(HubSynthesis::kPrefix, synthesis_.Train()));
    return update;
  }

  Facts facts() const override { return Joined(inner_->facts(), synthesis_.facts()); }

  TensorMap State() const override {
    TensorMap state = Prefixed("inner/", inner_->State());
    state.merge(synthesis_.State());
    return state;
  }
  void SetState(const TensorMap& state) override {
    inner_->SetState(Under("inner/", state));
    synthesis_.SetState(state);
  }

 private:
  FedWganOptions o_;
  SiloSynthesis synthesis_;
  std::unique_ptr<Client> inner_;
};

class FedWganServer final : public Server {
 public:
  FedWganServer(const ServerSetup& setup, const Config& table)
      : o_(FedWganOptions::From(table)), initial_(setup.initial), synthesis_(setup, o_) {
    const Method& method = InnerMethod(table);
    inner_ = method.make_server(setup, table.Table(method.name));
    personal_ = inner_->Global().empty();
    if (o_.gan) Check(method.name);
  }

  Exchange exchange() const override { return inner_->exchange(); }

  TensorMap Broadcast(int silo) const override {
    TensorMap out = inner_->Broadcast(silo);
    if (personal_ && synthesis_.HasPairs()) synthesis_.TrainSent(out, inner_->Context(), silo);
    return out;
  }

  void Arrived(int silo, const TensorMap& gathered) override {
    inner_->Arrived(silo, synthesis_.Take(silo, gathered));
  }

  void Merge(const Merged& round) override {
    Merged rest{.mean = round.mean, .gathered = {}};
    for (const auto& [silo, sent] : round.gathered) {
      rest.gathered[silo] = synthesis_.Take(silo, sent);
    }
    inner_->Merge(rest);
    if (!o_.gan) return;
    synthesis_.Generate(personal_ ? initial_ : inner_->Global(), inner_->Context(),
                        round.gathered.size());
    if (personal_ || !synthesis_.HasPairs()) return;
    inner_->SetGlobal(synthesis_.Trained(inner_->Global(), inner_->Context()));
  }

  TensorMap Global() const override { return inner_->Global(); }
  void SetGlobal(const TensorMap& weights) override { inner_->SetGlobal(weights); }
  TensorMap Context() const override { return inner_->Context(); }
  Facts facts() const override { return Joined(inner_->facts(), synthesis_.facts()); }

  TensorMap State() const override {
    TensorMap state = Prefixed("inner/", inner_->State());
    state.merge(synthesis_.State(/*with_pairs=*/personal_));
    return state;
  }
  void SetState(const TensorMap& state) override {
    inner_->SetState(Under("inner/", state));
    synthesis_.SetState(state);
  }

 private:
  // Throws where the inner method's hub cannot go on from other weights.
  void Check(const std::string& inner) {
    if (!personal_) return inner_->SetGlobal(inner_->Global());
    if (Under("w/", inner_->Broadcast(0)).empty()) {
      throw Error(
          "method.inner = '{}' has no model at the hub to be trained on generated pairs; use one "
          "such as fedavg, fedprox, moon, plfedcmh or pepfch",
          inner);
    }
    if (o_.space == PairSpace::kCodes) {
      throw Error(
          "method.proto_space = 'hash' needs a global model, and '{}' has one for every silo; use "
          "'concat-split'",
          inner);
    }
  }

  FedWganOptions o_;
  TensorMap initial_;
  HubSynthesis synthesis_;
  std::unique_ptr<Server> inner_;
  bool personal_ = false;  // every silo has a model of its own at the hub, trained as it is sent
};

}  // namespace

Method FedWgan() {
  return {.name = "fedwgan",
          .summary = "another method, and pairs generated from every silo's WGAN (AAAI 2025)",
          .sends =
              "what the inner method sends; a generator and prototypes, which can hold samples "
              "(each silo's own)",
          .make_client = NewClient<FedWganClient>,
          .make_server = NewServer<FedWganServer>,
          .prepare = [](HashModel& model, const Config& table, uint64_t seed) {
            const Method& inner = InnerMethod(table);
            if (inner.prepare) inner.prepare(model, table.Table(inner.name), seed);
          }};
}

}  // namespace crossilo

// PT-FUCH: a silo keeps a private model that learns clusters from the global
// one's relations, and the prototypes it finds guide the model that is shared.
//
// Li, Li, Zhu, Cui and Li, Prototype-guided Knowledge Transfer for Federated
// Unsupervised Cross-modal Hashing, ACM MM 2023, as the code has it:
//
//   A private:  L_base + L_clu + L_kd_s / L_clu       from theta_p, teacher theta_g
//   B shared:   L_base + JS(hid_I, hid_T; P_g) + JS(hid_I, hid_T; P_l)  from theta_g
//   C text:     L_base, with the image network at rest
//   D           P_k = k-means of normalise((hid_I + hid_T) / 2) under theta_p
//   server      theta_g = mean of the silos' theta_g,  P_g = k-means of all P_k
//
// L_clu, L_kd_s in ptfuch_losses.h, JS in relational.h; P_l are the clusters of
// the batch under theta_p.  Before there are prototypes to guide it, phase B is
// FedAvg.

#include "crossilo/base/error.h"
#include "crossilo/methods/ptfuch_losses.h"
#include "crossilo/methods/relational.h"
#include "crossilo/methods/trainer.h"
#include "crossilo/models/encode.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

struct PtFuchOptions {
  int64_t prototypes = 24, iterations = 100;
  int64_t private_epochs = 0, global_epochs = 0;
  bool text_phase = true, queue = false, of_batch = true, each_phase = true, by_samples = false;
  double t = 0.26, t2 = 0.81;

  // What the hub needs too.
  static PtFuchOptions OfPrototypes(const Config& table) {
    PtFuchOptions o;
    o.prototypes = table.Int("prototypes", o.prototypes, "of every silo, and of the hub", 1);
    o.iterations =
        table.Int("kmeans_iterations", o.iterations, "most rounds of k-means; it stops earlier", 1);
    return o;
  }
  static PtFuchOptions From(const Config& table) {
    PtFuchOptions o = OfPrototypes(table);
    o.private_epochs = table.Int("private_epochs", o.private_epochs,
                                 "of the private model; 0: training.local_epochs", 0);
    o.global_epochs = table.Int("global_epochs", o.global_epochs,
                                "of the shared model, and again of its text network; 0: "
                                "training.local_epochs",
                                0);
    o.text_phase =
        table.Flag("text_phase", o.text_phase, "train the text network alone after both");
    o.t = table.Real("t", o.t, "temperature of the relations to prototypes", 1e-6);
    o.t2 = table.Real("t2", o.t2, "temperature of what those relations are drawn to", 1e-6);
    o.queue = table.Choice("queue", "none", {"none", "literal"},
                           "none: a batch is clustered alone; literal: a batch that is not full "
                           "behind the last full one or zeros, as the authors do") == "literal";
    o.of_batch = table.Choice("local_prototypes", "batch", {"batch", "silo"},
                              "what guides the shared model: clusters of the batch, as the authors "
                              "do, or once a round of all samples, which is cheaper") == "batch";
    o.each_phase =
        table.Choice("restart", "phase", {"phase", "round"},
                     "when the base begins anew (UCCH: with a new memory bank): phase: with every "
                     "phase; round: with the private one only, whose bank the others go on with") ==
        "phase";
    o.by_samples = table.Choice("weights", "uniform", {"samples", "uniform"},
                                "a silo's share of the mean: by its number of samples, or all "
                                "alike") == "samples";
    return o;
  }
};

// Two models share one optimiser object, so that moments kept from round to
// round would be the other model's: training.keep_optimizer does not apply.
ClientSetup FreshOptimizers(ClientSetup setup) {
  setup.training.keep_optimizer = false;
  return setup;
}

class PtFuchClient final : public Client {
 public:
  PtFuchClient(const ClientSetup& setup, const Config& table)
      : trainer_(FreshOptimizers(setup)),
        options_(PtFuchOptions::From(table)),
        theta_p_(Weights(setup.model)) {}

  void Receive(const TensorMap& broadcast) override {
    theta_g_ = Under("w/", broadcast);
    const auto P = broadcast.find("prototypes");
    P_g_ = P == broadcast.end() ? torch::Tensor() : P->second.to(device());
  }

  Update Train(int round) override {
    HashModel& model = trainer_.model();
    Random random(trainer_.setup().seed, {static_cast<uint64_t>(round), id()}, "prototypes");
    queue_ = BatchQueue(trainer_.setup().training.batch);

    SetWeights(model, theta_g_);
    const Outputs teacher = EncodeBoth(&Encoded::output);
    SetWeights(model, theta_p_);
    PrivatePhase(round, teacher, random);
    theta_p_ = Weights(model);

    const Outputs hid = EncodeBoth(&Encoded::raw);  // theta_p rests from here on
    const torch::Tensor fused = Fused(hid.image, hid.text).cpu();
    P_k_ = Clusters(fused, random).centroids;

    SetWeights(model, theta_g_);
    double loss = SharedPhase(round, fused, random);
    if (options_.text_phase) loss = TextPhase(round);
    return {.sums = Weights(model),
            .gathered = {{"prototypes", P_k_}},
            .weight = options_.by_samples ? trainer_.samples() : 1,
            .loss = loss};
  }

  Facts facts() const override { return facts_; }

  TensorMap State() const override {
    TensorMap state = Prefixed("trainer/", trainer_.State());
    state.merge(Prefixed("private/", Copy(theta_p_)));
    return state;
  }
  void SetState(const TensorMap& state) override {
    trainer_.SetState(Under("trainer/", state));
    theta_p_ = Copy(Under("private/", state));
  }

 private:
  struct Outputs {
    torch::Tensor image, text;
  };

  uint64_t id() const { return static_cast<uint64_t>(trainer_.silo().id); }
  torch::Device device() const { return trainer_.silo().all.image.device(); }

  // Of every sample; exact for a whole round, since features and weights are
  // frozen and no noise is asked for.
  Outputs EncodeBoth(torch::Tensor Encoded::*part) const {
    const Batch& all = trainer_.silo().all;
    return {EncodeAll(trainer_.model(), Modality::kImage, all.image, part),
            EncodeAll(trainer_.model(), Modality::kText, all.text, part)};
  }

  // What the step encoded; a network that it leaves alone is a constant.
  Seen Both(const Step& step, const Seen& seen) const {
    Seen both = seen;
    const Batch& all = trainer_.silo().all;
    const auto encode = [&](Modality m, const torch::Tensor& x, Encoded& into) {
      if (into.raw.defined() && into.output.defined()) return;
      torch::NoGradGuard no_grad;
      into = trainer_.model().Encode(m, x.index_select(0, step.rows.to(x.device())));
    };
    encode(Modality::kImage, all.image, both.image);
    encode(Modality::kText, all.text, both.text);
    return both;
  }

  Clustering Clusters(const torch::Tensor& rows, Random& random) const {
    return ClusterRows(rows, options_.prototypes, options_.iterations, random);
  }
  Clustering BatchClusters(const torch::Tensor& fused, Random& random) {
    return Clusters(options_.queue ? queue_.Before(fused) : fused, random);
  }

  // A.
  void PrivatePhase(int round, const Outputs& teacher, Random& random) {
    const auto terms = [&](const Step& step, const Seen& seen) -> std::vector<LossTerm> {
      const Seen s = Both(step, seen);
      const torch::Tensor &hid_I = s.image.raw, &hid_T = s.text.raw;
      const Clustering c = BatchClusters(Fused(hid_I, hid_T).detach().cpu(), random);
      // One cluster costs nothing to tell, so that there is nothing to divide by.
      if (c.centroids.size(0) < 2) return {};
      const torch::Tensor y = c.labels.slice(0, c.labels.size(0) - step.rows.size(0));
      const torch::Tensor L_clu =
          ClusterLoss(hid_I, hid_T, c.centroids.to(device()), y.to(device()));
      const torch::Tensor rows = step.rows.to(device());
      const torch::Tensor L_kd_s =
          DistillationLoss(s.image.output, s.text.output, teacher.image.index_select(0, rows),
                           teacher.text.index_select(0, rows));
      return {{"L_clu", L_clu}, {"L_kd", Adaptive(L_kd_s, L_clu)}};
    };
    facts_["private loss"] =
        trainer_
            .Run(round, {.extra_loss = terms},
                 {.name = "private training", .epochs = options_.private_epochs})
            .loss;
  }

  // B.  `fused`: of every sample, under theta_p.
  double SharedPhase(int round, const torch::Tensor& fused, Random& random) {
    TrainingHooks hooks;
    if (P_g_.defined()) {
      hooks.extra_loss = [&](const Step& step, const Seen& seen) -> std::vector<LossTerm> {
        const Seen s = Both(step, seen);
        const torch::Tensor P_l =
            options_.of_batch ? BatchClusters(fused.index_select(0, step.rows), random).centroids
                              : P_k_;
        const auto JS = [&](const torch::Tensor& P) {
          return RelationalLoss(s.image.raw, s.text.raw, P, options_.t, options_.t2);
        };
        return {{"L_RL", JS(P_l.to(device()))}, {"L_RG", JS(P_g_)}};
      };
    }
    return trainer_
        .Run(round, hooks, {.epochs = options_.global_epochs, .fresh_learner = options_.each_phase})
        .loss;
  }

  // C.
  double TextPhase(int round) {
    return trainer_
        .Run(round, {.trains = {Modality::kText}},
             {.name = "text training",
              .epochs = options_.global_epochs,
              .fresh_optimizer = false,
              .fresh_learner = options_.each_phase})
        .loss;
  }

  Trainer trainer_;
  PtFuchOptions options_;
  TensorMap theta_p_, theta_g_;
  torch::Tensor P_g_, P_k_;  // P_g_ undefined before the hub has any
  BatchQueue queue_{0};
  Facts facts_;
};

class PtFuchServer final : public Server {
 public:
  PtFuchServer(const ServerSetup& setup, const Config& table)
      : options_(PtFuchOptions::OfPrototypes(table)), seed_(setup.seed), theta_g_(setup.initial) {}

  TensorMap Broadcast(int) const override { return State(); }

  void Merge(const Merged& round) override {
    theta_g_ = round.mean;
    std::vector<torch::Tensor> P;
    for (const auto& [silo, sent] : round.gathered) P.push_back(sent.at("prototypes"));
    if (P.empty()) return;
    const torch::Tensor all = torch::cat(P);
    const torch::Tensor usable = all.isfinite().all(1).logical_and(all.ne(0).any(1));
    const torch::Tensor rows = UnitRows(all.index_select(0, usable.nonzero().squeeze(1)));
    if (rows.size(0) == 0) return;
    Random random(seed_, {}, "prototypes at the hub");
    P_g_ = ClusterRows(rows, options_.prototypes, options_.iterations, random).centroids;
  }

  TensorMap Global() const override { return theta_g_; }
  void SetGlobal(const TensorMap& weights) override { theta_g_ = weights; }

  TensorMap State() const override {
    TensorMap state = Prefixed("w/", theta_g_);
    if (P_g_.defined()) state["prototypes"] = P_g_;
    return state;
  }
  void SetState(const TensorMap& state) override {
    theta_g_ = Under("w/", state);
    const auto P = state.find("prototypes");
    P_g_ = P == state.end() ? torch::Tensor() : P->second;
  }

 private:
  PtFuchOptions options_;
  uint64_t seed_;
  TensorMap theta_g_;
  torch::Tensor P_g_;
};

}  // namespace

Method PtFuch() {
  return {.name = "ptfuch",
          .summary = "a private and a shared model a silo, joined by prototypes (MM 2023)",
          .sends = "weights (in a sum), prototypes (each silo's own)",
          .make_client = NewClient<PtFuchClient>,
          .make_server = NewServer<PtFuchServer>};
}

}  // namespace crossilo

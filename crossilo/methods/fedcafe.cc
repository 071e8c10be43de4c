// FedCAFE: codes are enhanced by a global memory of where everybody's codes
// lie; local codes are held near the global model's; silos far from the global
// memory weigh more.
//
// Fu, Zhan, Zhang, Luo, Chen, Wang, Yang and Xu, FedCAFE: Federated Cross-Modal
// Hashing with Adaptive Feature Enhancement, ACM MM 2024.
//
//   L = L_hash + alpha L_E + eta L_C + gamma L_P                         (8)
//   L_E = 1 - cos(V_E, O)                                                (5)
//   L_C = 1/2 (1 - cos(V_E, V_E^{x,glob})) + 1/2 (1 - cos(V_E, V_E^{y,glob}))   (6)
//   L_P = KL(L, Lhat)                                                    (7)
//   W = sum_k a_k W_k,  a_k by Sim_k of the memories                     (9-11)
//
// O, Lhat and V_E (Eq. 3 and 4) are the memory head's (models/head.h).  L_hash
// is the base's loss on O; its buffers hold V_E.

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/methods/averaging.h"
#include "crossilo/methods/fedcafe_losses.h"
#include "crossilo/methods/memory.h"
#include "crossilo/methods/mixing_rule.h"
#include "crossilo/methods/trainer.h"
#include "crossilo/models/encode.h"
#include "crossilo/models/head.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

struct FedCafeOptions {
  bool afe, l_e, l_c, l_p, wa;
  double alpha, eta, gamma;
  bool log_form, aligned, before_activation, normalised_kl, hash_scale;
  std::string mem_form;

  static FedCafeOptions From(const Config& t) {
    FedCafeOptions o;
    o.afe = t.Flag("afe", true, "enhance features by the global memory");
    o.l_e = t.Flag("l_e", true, "the loss that holds enhanced features near raw ones");
    o.l_c = t.Flag("l_c", true, "the loss that holds codes near the global model's");
    o.l_p = t.Flag("l_p", true, "the loss of the classifier that reads the memory");
    o.wa = t.Flag("wa", true, "weigh silos by their memories; else as `weights` says");
    o.alpha = t.Real("alpha", 0.1, "weight of l_e", 0);
    o.eta = t.Real("eta", 0.1, "weight of l_c", 0);
    o.gamma = t.Real("gamma", 1, "weight of l_p", 0);
    o.log_form = t.Choice("wa_form", "log", {"log", "literal"},
                          "a silo's weight: log: Sim / sum of Sim, as the authors' code; literal: "
                          "softmax of Sim, which can fall to one silo") == "log";
    o.aligned = t.Choice("s_form", "joint-kmeans", {"joint-kmeans", "identity"},
                         "rows of memories that mean the same: of one cluster, or memories are "
                         "class means and row c is class c") == "identity";
    o.mem_form = t.Choice("mem_form", "fused", {"fused", "two-stage"},
                          "local memory: k-means of a pair's mean code, or of each modality and "
                          "then of both");
    o.before_activation = t.Choice("o", "post", {"pre", "post"},
                                   "the feature that is enhanced: before or after the base's "
                                   "activation") == "pre";
    o.normalised_kl = t.Choice("kl", "code", {"code", "normalised"},
                               "l_p: code: divided by batch and classes, several labels weigh "
                               "more; normalised: KL to labels that sum to 1") == "normalised";
    o.hash_scale = t.Flag("hash_scale", false,
                          "divide the base's loss by the number of silos, as the authors' code");
    return o;
  }
  bool head() const { return afe || l_p; }
  bool memory() const { return afe || wa; }
};

class FedCafeClient final : public Client {
 public:
  FedCafeClient(const ClientSetup& setup, const Config& table)
      : o_(FedCafeOptions::From(table)),
        trainer_(setup),
        weight_(AveragingWeight(table, trainer_.samples())) {
    if (!setup.silo.all.labels.defined()) {
      throw Error(
          "fedcafe has a memory of one row a class and this dataset has no labels; use "
          "fedavg or an unsupervised method");
    }
  }

  void Receive(const TensorMap& broadcast) override {
    SetWeights(trainer_.model(), Under("w/", broadcast));
    TensorMap context;
    if (o_.afe && broadcast.count("memory") > 0) context["memory"] = broadcast.at("memory");
    trainer_.model().SetContext(context);
  }

  Update Train(int round) override {
    if (o_.l_c) {  // the received model sees every sample once a round, not once a batch
      seen_globally_ = 0.5 * (UnitRows(Codes(Modality::kImage)) + UnitRows(Codes(Modality::kText)));
    }
    TrainingHooks hooks;
    if (o_.l_e || o_.l_c || o_.l_p) {
      hooks.extra_loss = [this](const Step& step, const Seen& seen) { return Terms(step, seen); };
    }
    if (o_.hash_scale) hooks.own_factor = 1.0 / trainer_.setup().silos;
    Update update{.weight = weight_, .loss = trainer_.Run(round, hooks).loss};
    (o_.wa ? update.gathered : update.sums) = Prefixed("w/", Weights(trainer_.model()));
    if (o_.memory()) update.gathered["memory"] = Memory(round);
    return update;
  }

  TensorMap State() const override { return trainer_.State(); }
  void SetState(const TensorMap& state) override { trainer_.SetState(state); }

 private:
  torch::Tensor Codes(Modality m) const {
    return EncodeAll(trainer_.model(), m, trainer_.Features(m), &Encoded::code);
  }

  std::vector<LossTerm> Terms(const Step& step, const Seen& seen) const {
    std::vector<LossTerm> terms;
    const torch::Tensor rows = step.rows.to(trainer_.silo().all.image.device());
    const auto memory = trainer_.model().context().find("memory");
    const CafeWeights weights{o_.l_e ? o_.alpha : 0, o_.l_c ? o_.eta : 0, o_.l_p ? o_.gamma : 0,
                              o_.normalised_kl};
    for (Modality m : step.trains) {
      const Encoded& e = seen.of(m);
      CafeBatch batch{.O = o_.before_activation ? e.raw : e.output, .logits = e.logits};
      if (memory != trainer_.model().context().end()) batch.memory = memory->second;
      if (o_.l_c) batch.globally = seen_globally_.index_select(0, rows);
      if (o_.l_p) batch.labels = trainer_.silo().all.labels.index_select(0, rows);
      const CafeLoss loss = CafeTerms(batch, weights);
      const char* name = !std::isfinite(loss.l_e)   ? "L_E"
                         : !std::isfinite(loss.l_c) ? "L_C"
                                                    : "L_P";
      terms.push_back({name, loss.sum});
    }
    return terms;
  }

  // With the trained networks and the memory they were trained with.
  torch::Tensor Memory(int round) const {
    const Silo& silo = trainer_.silo();
    Random random(trainer_.setup().seed,
                  {static_cast<uint64_t>(round), static_cast<uint64_t>(silo.id)}, "memory");
    return LocalMemory(Codes(Modality::kImage).cpu(), Codes(Modality::kText).cpu(),
                       silo.all.labels.cpu(), {silo.all.labels.size(1), o_.mem_form, o_.aligned},
                       random);
  }

  FedCafeOptions o_;
  Trainer trainer_;
  double weight_;  // n_k, used without wa
  // (V^x + V^y) / 2 of the received model, one row a sample, V^ of length 1:
  // L_C = 1 - <V_E^, (V^x + V^y) / 2>, one product for Eq. 6's two.
  torch::Tensor seen_globally_;
};

class FedCafeServer final : public Server {
 public:
  FedCafeServer(const ServerSetup& setup, const Config& table)
      : o_(FedCafeOptions::From(table)),
        seed_(setup.seed),
        memory_options_{setup.shape.classes, o_.mem_form, o_.aligned},
        global_(setup.initial) {}

  TensorMap Broadcast(int) const override {
    TensorMap all = Prefixed("w/", global_);
    if (o_.afe) all.merge(Context());
    return all;
  }

  void Merge(const Merged& round) override {
    ++rounds_;
    if (!o_.wa) global_ = Under("w/", round.mean);
    if (!o_.memory()) return;
    std::vector<torch::Tensor> P_k;
    for (const auto& [silo, sent] : round.gathered) P_k.push_back(sent.at("memory"));
    Random random(seed_, {rounds_}, "global memory");
    P_g_ = GlobalMemory(P_k, memory_options_, random);
    if (!o_.wa) return;
    global_ = MixedWeights(round.gathered, WeightsOf(P_k, random));  // Eq. 11
  }

  TensorMap Global() const override { return global_; }
  void SetGlobal(const TensorMap& weights) override { global_ = weights; }
  TensorMap Context() const override {
    return o_.afe && P_g_.defined() ? TensorMap{{"memory", P_g_}} : TensorMap{};
  }
  TensorMap State() const override {
    TensorMap state = Prefixed("w/", global_);
    if (P_g_.defined()) state["memory"] = P_g_;
    state["rounds"] = torch::tensor(static_cast<int64_t>(rounds_));
    return state;
  }
  void SetState(const TensorMap& state) override {
    global_ = Under("w/", state);
    rounds_ = static_cast<uint64_t>(state.at("rounds").item<int64_t>());
    if (state.count("memory") > 0) P_g_ = state.at("memory");
  }

 private:
  // Eq. 10.  Sim is a negative log-likelihood: it is large where a memory does
  // not fit the global one, and such a silo weighs more on purpose.
  std::vector<double> WeightsOf(const std::vector<torch::Tensor>& P_k, Random& random) const {
    const auto S = SameMeaning(P_g_, P_k, memory_options_, random);
    std::vector<double> Sim;
    for (size_t k = 0; k < P_k.size(); ++k) Sim.push_back(MemorySimilarity(P_g_, P_k[k], S[k]));
    return o_.log_form ? Shares(Sim) : Softmax(Sim);
  }

  FedCafeOptions o_;
  uint64_t seed_, rounds_ = 0;
  MemoryOptions memory_options_;
  TensorMap global_;
  torch::Tensor P_g_;  // undefined before the first round
};

}  // namespace

Method FedCafe() {
  return {.name = "fedcafe",
          .summary = "codes enhanced by a global memory; far silos weigh more (ACM MM 2024)",
          .sends = "weights and memory (each silo's own)",
          .make_client = NewClient<FedCafeClient>,
          .make_server = NewServer<FedCafeServer>,
          .prepare = [](HashModel& model, const Config& table, uint64_t seed) {
            const FedCafeOptions o = FedCafeOptions::From(table);
            if (!o.head()) return;
            model.Attach(
                MakeMemoryHead(model.shape().classes, model.code_dims(), o.before_activation),
                Random(seed, {}, "classifier"));
          }};
}

}  // namespace crossilo

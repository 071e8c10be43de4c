// MOON: FedAvg whose local representations are drawn to the global model's and
// pushed off those of the silo's previous local models.
//
// Q. Li, He and Song, Model-Contrastive Federated Learning, CVPR 2021.
//
//   L = L_task + mu sum over the modalities that the step trains of l_con,
//   l_con in contrast.h, from the same modality's z, z_glob and z_prev
//
// z is the last hidden layer (or the relaxed code); no projection head is
// added.  The previous models are the silo's own at the end of the last rounds
// it took part in, never merged ones.  In its first round a silo has none, and
// there, as with mu = 0, it is FedAvg.
//
// Where the base takes several steps on a batch (DGCPN) the contrast has one of
// its own after them, of both networks, as FedUCH's terms do.

#include <map>

#include "crossilo/methods/averaging.h"
#include "crossilo/methods/contrast.h"
#include "crossilo/methods/trainer.h"
#include "crossilo/models/encode.h"

namespace crossilo {
namespace {

struct MoonOptions {
  double mu = 0.1, temperature = 0.5;
  int64_t previous = 1;
  std::string representation = "hidden", reg_step = "auto";

  static MoonOptions From(const Config& table) {
    MoonOptions o;
    o.mu = table.Real("mu", o.mu,
                      "weight of the contrast of models; DCMH's loss is divided by n and batch, so "
                      "1 outweighs it",
                      0);
    o.temperature = table.Real("temperature", o.temperature,
                               "of the contrast: small values attend to small differences", 1e-6);
    o.previous = table.Int("previous", o.previous,
                           "how many of its last local models a silo is pushed off", 1);
    o.representation =
        table.Choice("representation", o.representation, {"hidden", "code"},
                     "what is contrasted: the last hidden layer or the relaxed code");
    o.reg_step = table.Choice("reg_step", o.reg_step, {"auto", "joint", "separate"},
                              "the contrast joins the base's (first) step on a batch, or takes one "
                              "of its own after it; auto: its own where the base takes several");
    return o;
  }
};

// Representations of all of the silo's samples by frozen models.
struct Frozen {
  torch::Tensor z_glob;
  std::vector<torch::Tensor> z_prev;
};

class MoonClient final : public Client {
 public:
  MoonClient(const ClientSetup& setup, const Config& table)
      : trainer_(setup),
        weight_(AveragingWeight(table, trainer_.samples())),
        options_(MoonOptions::From(table)),
        part_(options_.representation == "hidden" ? &Encoded::hidden : &Encoded::code) {}

  void Receive(const TensorMap& w) override { SetWeights(trainer_.model(), w); }

  Update Train(int round) override {
    const bool contrasts = options_.mu > 0 && !pool_.empty();
    const std::map<Modality, Frozen> frozen = contrasts ? Freeze() : std::map<Modality, Frozen>{};
    Random noise(trainer_.setup().seed,
                 {static_cast<uint64_t>(round), static_cast<uint64_t>(trainer_.silo().id)},
                 "own step");
    bool separate = options_.reg_step == "separate";
    TrainingHooks hooks;
    if (contrasts) {
      hooks.extra_loss = [&](const Step& step, const Seen& seen) {
        if (options_.reg_step == "auto") separate = !step.last;
        return separate ? std::vector<LossTerm>{} : Terms(frozen, step, seen);
      };
      hooks.own_step = [&](const torch::Tensor& rows) {
        return separate ? OwnStep(frozen, rows, noise) : std::vector<LossTerm>{};
      };
    }
    const double loss = trainer_.Run(round, hooks).loss;
    if (options_.mu > 0) {
      pool_.push_back(Weights(trainer_.model()));
      if (std::ssize(pool_) > options_.previous) pool_.erase(pool_.begin());
    }
    return {.sums = Weights(trainer_.model()), .weight = weight_, .loss = loss};
  }

  TensorMap State() const override {
    TensorMap state = Prefixed("trainer/", trainer_.State());
    for (size_t i = 0; i < pool_.size(); ++i) state.merge(Prefixed(PoolName(i), Copy(pool_[i])));
    return state;
  }
  void SetState(const TensorMap& state) override {
    trainer_.SetState(Under("trainer/", state));
    pool_.clear();
    for (TensorMap w; !(w = Under(PoolName(pool_.size()), state)).empty();) {
      pool_.push_back(Copy(w));
    }
  }

 private:
  static std::string PoolName(size_t i) { return "previous/" + std::to_string(i) + "/"; }

  // One row a sample, by the weights that the model has now.
  torch::Tensor RepresentAll(Modality m) const {
    return EncodeAll(trainer_.model(), m, trainer_.Features(m), part_);
  }

  // Features do not change and frozen models have no dropout, so that once a
  // round is as good as once a step.  Leaves the model as it was.
  std::map<Modality, Frozen> Freeze() {
    std::map<Modality, Frozen> frozen;
    for (Modality m : kModalities) frozen[m].z_glob = RepresentAll(m);
    for (const TensorMap& w_prev : pool_) {
      trainer_.With(w_prev, [&] {
        for (Modality m : kModalities) frozen[m].z_prev.push_back(RepresentAll(m));
      });
    }
    return frozen;
  }

  std::vector<LossTerm> Terms(const std::map<Modality, Frozen>& frozen, const Step& step,
                              const Seen& seen) const {
    std::vector<LossTerm> terms;
    for (Modality m : step.trains) {
      const torch::Tensor& z = seen.of(m).*part_;
      if (!z.defined()) continue;
      const Frozen& all = frozen.at(m);
      const torch::Tensor rows = step.rows.to(z.device());
      std::vector<torch::Tensor> z_prev;
      for (const torch::Tensor& p : all.z_prev) z_prev.push_back(p.index_select(0, rows));
      const torch::Tensor l_con =
          ModelContrast(z, all.z_glob.index_select(0, rows), z_prev, options_.temperature);
      terms.push_back({"mu l_con", options_.mu * l_con});
    }
    return terms;
  }

  std::vector<LossTerm> OwnStep(const std::map<Modality, Frozen>& frozen, const torch::Tensor& rows,
                                Random& noise) const {
    const torch::Tensor at = rows.to(trainer_.Features(Modality::kImage).device());
    Seen seen;
    for (Modality m : kModalities) {
      Encoded& encoded = m == Modality::kImage ? seen.image : seen.text;
      encoded = trainer_.model().Encode(m, trainer_.Features(m).index_select(0, at), &noise);
    }
    return Terms(frozen, {rows, {Modality::kImage, Modality::kText}}, seen);
  }

  Trainer trainer_;
  double weight_;
  MoonOptions options_;
  torch::Tensor Encoded::*part_;  // z
  std::vector<TensorMap> pool_;   // oldest first
};

}  // namespace

Method Moon() {
  return {.name = "moon",
          .summary = "fedavg whose representations are drawn to the global model's (CVPR 2021)",
          .sends = "weights (in a sum)",
          .make_client = NewClient<MoonClient>,
          .make_server = NewServer<AveragingServer>};
}

}  // namespace crossilo

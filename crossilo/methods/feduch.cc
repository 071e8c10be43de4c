// FedUCH: FedAvg whose features are drawn to those the global model has of the
// other modality, and whose codes are drawn to the global model's.
//
// Zhu, J. Li, Wang, H. Li and Zhang, Federated unsupervised cross-modal
// hashing, Sci Sin Inform 2023; the code is exquisite1210/FedUCH, 141db0f.
//
//   J = J^H + mu J^CR + phi J^KD                                        (14)
//   J^CR_V = -log( e^(cos(Z^V, Z_G^T)/tau)
//                  / (e^(cos(Z^V, Z_G^T)/tau) + e^(cos(Z^V, Z_prev^T)/tau)) )   (11)
//   J^KD_V = KL(H_G^V || H^V), in code_distillation.h                   (12, 13)
//   and with V and T exchanged; Theta_G = sum_k n_k/n Theta_k           (3)
//
// J^H is the base's loss, Z its last hidden layer, H its relaxed code; G is the
// model received, prev the silo's own at the end of its last training, never a
// merged one.  In a silo's first round prev = G and J^CR has no gradient.
//
// Ablations: FedUCH-1 is cr = kd = false and is FedAvg, -2 is kd = false, -3 is
// cr = false.  With mu = phi = 0 the extra steps are taken with zero gradients:
// only momentum and weight decay move weights there.
//
// The paper encrypts what travels: here that is the transport's work.

#include <map>

#include "crossilo/base/error.h"
#include "crossilo/methods/averaging.h"
#include "crossilo/methods/code_distillation.h"
#include "crossilo/methods/contrast.h"
#include "crossilo/methods/drawn_silo.h"
#include "crossilo/methods/trainer.h"
#include "crossilo/models/encode.h"

namespace crossilo {
namespace {

struct FedUchOptions {
  bool cr, kd, separate, softmax_bits, noisy_teacher, own_previous, bootstrap;
  double mu, phi, tau, temperature;

  static FedUchOptions From(const Config& t) {
    FedUchOptions o;
    o.cr = t.Flag("cr", true, "the contrast of the models' features across modalities");
    o.kd = t.Flag("kd", true, "the distillation of the global model's codes");
    o.mu = t.Real("mu", 0.6, "weight of cr", 0);
    o.phi = t.Real("phi", 0.4, "weight of kd", 0);
    o.tau = t.Real("tau", 1, "temperature of cr", 1e-6);
    o.separate = t.Choice("reg_step", "separate", {"separate", "joint"},
                          "cr and kd in a step of their own after the base's steps on a batch, as "
                          "the authors' code; or added to the first of those") == "separate";
    o.softmax_bits = t.Choice("kd_form", "softmax-bits", {"softmax-bits", "bernoulli"},
                              "what makes a distribution of a code: softmax over its bits, or each "
                              "bit a coin") == "softmax-bits";
    o.temperature = t.Real("kd_temperature", 1.5, "of softmax-bits", 1e-6);
    o.noisy_teacher = t.Choice("teacher", "eval", {"eval", "train"},
                               "codes of the global model without dropout, or with, as the "
                               "authors' code") == "train";
    o.own_previous = t.Choice("prev_model", "own", {"own", "global-as-released"},
                              "what cr pushes off: the silo's last local model; or, as the "
                              "released code by mistake, the global one, which voids cr") == "own";
    o.bootstrap = t.Choice("train_sampling", "subset", {"subset", "bootstrap"},
                           "a silo trains on its samples, or on as many drawn from them with "
                           "replacement, once") == "bootstrap";
    return o;
  }
};

// What frozen models make of all of the silo's samples in one modality.
struct Frozen {
  torch::Tensor Z_G, Z_prev, H_G;
};
using FrozenBoth = std::map<Modality, Frozen>;

class FedUchClient final : public Client {
 public:
  FedUchClient(const ClientSetup& setup, const Config& table)
      : o_(FedUchOptions::From(table)),
        drawn_(setup.silo, o_.bootstrap, setup.seed),
        trainer_(drawn_.SetupLike(setup)),
        weight_(AveragingWeight(table, trainer_.samples())) {
    if (o_.cr) CheckWidths();
  }

  void Receive(const TensorMap& w) override { SetWeights(trainer_.model(), w); }

  Update Train(int round) override {
    FrozenBoth frozen;
    const TensorMap Theta_G = o_.cr || o_.kd ? Weights(trainer_.model()) : TensorMap{};
    Random noise = Stream(round, "own step"), teacher = Stream(round, "teacher");
    TrainingHooks hooks;
    if (o_.cr) FreezeFeatures(frozen);
    if (o_.kd && !o_.noisy_teacher) FreezeCodes(frozen, nullptr);
    if (o_.kd && o_.noisy_teacher) {
      // An epoch sees a sample once, so new noise every epoch is as good as
      // every step.
      hooks.begin_epoch = [&](int) {
        trainer_.With(Theta_G, [&] { FreezeCodes(frozen, &teacher); });
      };
    }
    if ((o_.cr || o_.kd) && o_.separate) {
      hooks.own_step = [&](const torch::Tensor& rows) { return OwnStep(frozen, rows, noise); };
    } else if (o_.cr || o_.kd) {
      hooks.extra_loss = [&](const Step& step, const Seen& seen) {
        std::vector<LossTerm> terms;
        for (Modality m : step.trains) AddTerms(frozen, m, seen.of(m), step.rows, terms);
        return terms;
      };
    }
    const double loss = trainer_.Run(round, hooks).loss;
    if (o_.cr && o_.own_previous) Theta_prev_ = Weights(trainer_.model());
    return {.sums = Weights(trainer_.model()), .weight = weight_, .loss = loss};
  }

  TensorMap State() const override {
    TensorMap state = Prefixed("trainer/", trainer_.State());
    state.merge(Prefixed("previous/", Copy(Theta_prev_)));
    return state;
  }
  void SetState(const TensorMap& state) override {
    trainer_.SetState(Under("trainer/", state));
    Theta_prev_ = Copy(Under("previous/", state));
  }

 private:
  static Modality Other(Modality m) {
    return m == Modality::kImage ? Modality::kText : Modality::kImage;
  }

  Random Stream(int round, const char* purpose) const {
    return Random(trainer_.setup().seed,
                  {static_cast<uint64_t>(round), static_cast<uint64_t>(trainer_.silo().id)},
                  purpose);
  }

  void CheckWidths() const {
    torch::NoGradGuard no_grad;
    int64_t widths[2] = {};
    for (Modality m : kModalities) {
      const Encoded one = trainer_.model().Encode(m, trainer_.Features(m).slice(0, 0, 1));
      widths[m == Modality::kText] = one.hidden.size(1);
    }
    if (widths[0] == widths[1]) return;
    throw Error(
        "feduch compares hidden layers across modalities and theirs are {} and {} wide; make "
        "model.hidden_image and model.hidden_text equal or set method.cr = false",
        widths[0], widths[1]);
  }

  // Z is before dropout and the features do not change: once a round is as good
  // as once a step.  The model must be at the weights received.
  void FreezeFeatures(FrozenBoth& frozen) {
    const auto Z = [this](Modality m) {
      return EncodeAll(trainer_.model(), m, trainer_.Features(m), &Encoded::hidden);
    };
    for (Modality m : kModalities) frozen[m].Z_G = frozen[m].Z_prev = Z(m);
    if (Theta_prev_.empty()) return;
    trainer_.With(Theta_prev_, [&] {
      for (Modality m : kModalities) frozen[m].Z_prev = Z(m);
    });
  }

  void FreezeCodes(FrozenBoth& frozen, Random* noise) const {
    for (Modality m : kModalities) {
      frozen[m].H_G = EncodeAll(trainer_.model(), m, trainer_.Features(m), &Encoded::code, noise);
    }
  }

  std::vector<LossTerm> OwnStep(const FrozenBoth& frozen, const torch::Tensor& rows,
                                Random& noise) const {
    std::vector<LossTerm> terms;
    for (Modality m : kModalities) {
      const torch::Tensor x =
          trainer_.Features(m).index_select(0, rows.to(trainer_.Features(m).device()));
      AddTerms(frozen, m, trainer_.model().Encode(m, x, &noise), rows, terms);
    }
    return terms;
  }

  // A weight of 0 leaves zero gradients, not none: the step is still taken.
  void AddTerms(const FrozenBoth& frozen, Modality m, const Encoded& encoded,
                const torch::Tensor& rows, std::vector<LossTerm>& terms) const {
    const torch::Tensor at = rows.to(trainer_.Features(m).device());
    if (o_.cr) {
      const Frozen& other = frozen.at(Other(m));
      terms.push_back(
          {"mu J^CR", o_.mu * ModelContrast(encoded.hidden, other.Z_G.index_select(0, at),
                                            {other.Z_prev.index_select(0, at)}, o_.tau)});
    }
    if (o_.kd) {
      const torch::Tensor H_G = frozen.at(m).H_G.index_select(0, at);
      const torch::Tensor J_KD = o_.softmax_bits
                                     ? SoftmaxDistillation(encoded.code, H_G, o_.temperature)
                                     : BernoulliDistillation(encoded.code, H_G);
      terms.push_back({"phi J^KD", o_.phi * J_KD});
    }
  }

  FedUchOptions o_;
  DrawnSilo drawn_;
  Trainer trainer_;
  double weight_;
  TensorMap Theta_prev_;  // empty before the silo has trained
};

}  // namespace

Method FedUch() {
  return {.name = "feduch",
          .summary = "fedavg with contrast across modalities and distilled codes (SSI 2023)",
          .sends = "weights (in a sum)",
          .make_client = NewClient<FedUchClient>,
          .make_server = NewServer<AveragingServer>};
}

}  // namespace crossilo

// SHDCH: every class has a code of its own, and a sample's code is to match
// that of its class and be orthogonal to those of the others.
//
// Zhan, Luo, Wang and Xu, Supervised Hierarchical Deep Hashing for Cross-Modal
// Retrieval, ACM MM 2020; with one label level, as in PLFedCMH (Liu et al.,
// ICASSP 2023).  The image encoder is a head on frozen features.
//
//   J = alpha (|r L1 - F Y1^T|^2 + |r L1 - G Y1^T|^2)
//       + beta (|r L2 - F Y2^T|^2 + |r L2 - G Y2^T|^2)
//       + eta |r S12 - Y1 Y2^T|^2 + gamma (|B - F|^2 + |B - G|^2)
//
// One row a sample or a class, r bits.  L1 are the coarse labels and L2 the
// fine ones, S12 tells which fine class occurs under which coarse one.  With
// one level: a in place of beta, neither L1 nor eta.

#include "crossilo/base/error.h"
#include "crossilo/models/require_labels.h"
#include "crossilo/models/two_networks.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

struct ShdchOptions {
  TwoNetworkOptions networks;
  // The weight of a lone level has a key of its own: a default that hung on
  // the dataset's levels could not be written into a run's resolved settings.
  double a = 0.5, alpha = 0.3, beta = 0.7, gamma = 1, eta = 100;
  bool by_samples = true, sigmoid = false;

  static ShdchOptions From(const Config& table) {
    ShdchOptions o{.networks = TwoNetworkOptions::From(table)};
    o.a = table.Real("a", o.a, "weight of the match with class codes, learning one label level", 0);
    o.alpha = table.Real("alpha", o.alpha, "weight of the match with coarse class codes", 0);
    o.beta = table.Real("beta", o.beta, "weight of the match with fine class codes, of two", 0);
    o.gamma = table.Real("gamma", o.gamma, "weight of |B - F|^2, codes near their signs", 0);
    o.eta = table.Real("eta", o.eta, "weight of fine class codes matching their coarse one's", 0);
    o.by_samples =
        table.Choice("divide", "samples", {"samples", "batch"},
                     "the loss: by batch and the silo's samples, as the authors do, so "
                     "that small silos have large gradients; or by the batch alone") == "samples";
    o.sigmoid = table.Choice("class_codes", "sign", {"sign", "sigmoid"},
                             "what class codes are made of: sign: -1 and 1; sigmoid: reals "
                             "between 0 and 1, as in the code of PEPFCH") == "sigmoid";
    return o;
  }
};

class Shdch final : public TwoNetworks {
 public:
  Shdch(const ModelShape& shape, const ShdchOptions& options, Random random)
      : TwoNetworks(shape, options.networks, random), options_(options) {}

  bool needs_labels() const override { return true; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const ShdchOptions& options() const { return options_; }

 protected:
  Encoded Forward(Modality modality, const torch::Tensor& x) const override {
    Encoded out = TwoNetworks::Forward(modality, x);
    out.output = torch::tanh(out.raw);
    return out;
  }

 private:
  ShdchOptions options_;
};

torch::Tensor Signs(const torch::Tensor& x) {
  return torch::where(x > 0, 1.0, -1.0).to(torch::kFloat);
}

// One level of labels, L (n x c), and its class codes Y (c x r).
struct Level {
  std::string name;
  double weight;
  torch::Tensor L, Y;
};

class ShdchLearner final : public Learner {
 public:
  ShdchLearner(const Shdch& model, const Silo& silo, Random& own, Random& common)
      : model_(model), silo_(silo) {
    const ShdchOptions& o = model.options();
    if (model.shape().coarse_classes > 0) {
      levels_ = {{"Y1", o.alpha, silo.all.coarse, {}}, {"Y2", o.beta, silo.all.labels, {}}};
      S12_ = silo.all.coarse.t().mm(silo.all.labels).gt(0).to(torch::kFloat);
    } else {
      levels_ = {{"Y", o.a, silo.all.labels, {}}};
    }
    // Drawn alone, the silos would ask one class for different codes.
    Random& random = o.networks.common_start ? common : own;
    const torch::Device device = silo.all.labels.device();
    for (Level& level : levels_) {
      level.Y = Signs(RandomNormal({level.L.size(1), o.networks.bits}, random)).to(device);
    }
    if (o.networks.common_start) {
      const Level& fine = levels_.back();
      F_ = fine.L.mm(fine.Y) / fine.L.sum(1, /*keepdim=*/true).clamp_min(1);
      G_ = F_.clone();
    } else {
      F_ = RandomNormal({silo.size(), o.networks.bits}, own).to(device);
      G_ = RandomNormal({silo.size(), o.networks.bits}, own).to(device);
    }
    B_ = Signs(F_ + G_);
  }

  std::vector<Step> PlanEpoch(int, int64_t batch, Random& random) override {
    return PlanAlternating(silo_.size(), batch, model_.options().networks.fresh, random);
  }

  // L_x = 1/(n b) { sum over levels of weight |r L_b - f Y^T|^2 + gamma |B_b - f|^2 }
  // with b the rows of this batch.  The authors divide by n times their full
  // batch; the scale matters as soon as a method adds a term of its own.
  torch::Tensor Loss(const Step& step, Seen& seen) override {
    const bool image = step.trains.front() == Modality::kImage;
    const Batch batch = silo_.all.Select(step.rows);
    Encoded& encoded = image ? seen.image : seen.text;
    encoded = model_.Encode(step.trains.front(), image ? batch.image : batch.text);
    const torch::Tensor& f = encoded.output;
    const torch::Tensor rows = step.rows.to(B_.device());
    (image ? F_ : G_).index_copy_(0, rows, encoded.code.detach());
    const ShdchOptions& o = model_.options();
    torch::Tensor loss = o.gamma * (B_.index_select(0, rows) - f).square().sum();
    for (const Level& level : levels_) {
      const torch::Tensor target =
          static_cast<double>(o.networks.bits) * level.L.index_select(0, rows);
      loss = loss + level.weight * (target - f.mm(level.Y.t())).square().sum();
    }
    const double n = o.by_samples ? static_cast<double>(silo_.size()) : 1;
    return loss / (n * static_cast<double>(f.size(0)));
  }

  // B = sign(gamma (F + G)), then the class codes: those of each level given
  // the other's as they stand, so that no step raises J.
  void EndEpoch() override {
    const double r = static_cast<double>(model_.code_dims()), eta = model_.options().eta;
    const torch::Tensor both = F_ + G_, gram = F_.t().mm(F_) + G_.t().mm(G_);
    B_ = Signs(both);
    if (levels_.size() == 1) {  // a is a common factor
      return Sweep(r * levels_[0].L.t().mm(both), gram, levels_[0].Y);
    }
    for (size_t at = 0; at < 2; ++at) {
      Level& level = levels_[at];
      const torch::Tensor& other = levels_[1 - at].Y;
      const torch::Tensor S = at == 0 ? S12_ : S12_.t();
      Sweep(r * (level.weight * level.L.t().mm(both) + eta * S.mm(other)),
            level.weight * gram + eta * other.t().mm(other), level.Y);
    }
  }

  TensorMap State() const override {
    TensorMap state = {{"F", F_}, {"G", G_}, {"B", B_}};
    for (const Level& level : levels_) state[level.name] = level.Y;
    return Copy(state);
  }
  void SetState(const TensorMap& state) override {
    F_.copy_(state.at("F"));
    G_.copy_(state.at("G"));
    B_.copy_(state.at("B"));
    for (Level& level : levels_) level.Y.copy_(state.at(level.name));
  }

 private:
  // Discrete coordinate descent, each bit once: in J the k-th bit y_k of all
  // class codes meets Q_k - sum_{j != k} M_jk Y_j and wants its sign.  Where
  // that is 0 either sign is as good and y_k stays.
  void Sweep(const torch::Tensor& Q, const torch::Tensor& M, torch::Tensor& Y) const {
    const bool sigmoid = model_.options().sigmoid;
    const torch::Tensor others = M - M.diag().diag();
    for (int64_t k = 0; k < Y.size(1); ++k) {
      torch::Tensor y = Y.select(1, k);
      const torch::Tensor pull = Q.select(1, k) - Y.mv(others.select(1, k));
      y.copy_(sigmoid ? torch::sigmoid(pull) : torch::where(pull == 0, y, Signs(pull)));
    }
  }

  const Shdch& model_;
  const Silo& silo_;
  std::vector<Level> levels_;  // coarse first, or the only one
  torch::Tensor S12_;          // c1 x c2
  torch::Tensor F_, G_, B_;
};

std::unique_ptr<Learner> Shdch::Learn(const Silo& silo, Random own, Random common) {
  RequireLabels(silo, "shdch");
  if (shape().coarse_classes > 0 && !silo.all.coarse.defined()) {
    throw Error("shdch is built for {} coarse classes and silo '{}' has no labels of that level",
                shape().coarse_classes, silo.name);
  }
  return std::make_unique<ShdchLearner>(*this, silo, own, common);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Shdch>(shape, ShdchOptions::From(table), random);
}

}  // namespace

ModelKind ShdchKind() {
  return {.name = "shdch",
          .summary = "samples match the codes of their classes, on one or two levels (MM 2020)",
          .supervised = true,
          .presets = {{"default",
                       {"training.optimizer=adam", "training.learning_rate=0.001",
                        "training.batch=32"}},
                      {"paper",
                       {"model.hidden_image=4096", "model.hidden_text=8192",
                        "model.init_deviation=0.01", "model.gamma=10.0", "model.sampling=fresh",
                        "model.start=private", "training.optimizer=adam",
                        "training.learning_rate=0.0001", "training.batch=128"}}},
          .make = Make};
}

}  // namespace crossilo

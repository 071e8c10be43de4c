// DCMH: two encoders whose inner products tell which pairs share a label.
//
// Jiang and Li, Deep Cross-Modal Hashing, CVPR 2017.  Here the image encoder is
// a head on frozen features, as for all our models.
//
//   J = sum_ij [log(1 + e^theta_ij) - S_ij theta_ij] + gamma (|B - F|^2 + |B - G|^2)
//       + eta (|F^T 1|^2 + |G^T 1|^2),     theta_ij = 1/2 <F_i, G_j>
//
// F and G hold the last codes of all of the silo's samples; a step renews its
// own rows, trains one network and takes all other rows as constants.

#include "crossilo/models/require_labels.h"
#include "crossilo/models/two_networks.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

struct DcmhOptions {
  TwoNetworkOptions networks;
  double gamma = 1, eta = 0;

  static DcmhOptions From(const Config& table) {
    DcmhOptions o{.networks = TwoNetworkOptions::From(table)};
    o.gamma = table.Real("gamma", o.gamma, "weight of |B - F|^2, codes near their signs", 0);
    o.eta = table.Real("eta", o.eta, "weight of |F^T 1|^2, every bit as often on as off", 0);
    return o;
  }
};

class Dcmh final : public TwoNetworks {
 public:
  Dcmh(const ModelShape& shape, const DcmhOptions& options, Random random)
      : TwoNetworks(shape, options.networks, random), options_(options) {}

  bool needs_labels() const override { return true; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const DcmhOptions& options() const { return options_; }

 protected:
  Encoded Forward(Modality modality, const torch::Tensor& x) const override {
    Encoded out = TwoNetworks::Forward(modality, x);
    out.output = out.raw;
    return out;
  }

 private:
  DcmhOptions options_;
};

class DcmhLearner final : public Learner {
 public:
  DcmhLearner(const Dcmh& model, const Silo& silo, Random& own, Random& common)
      : model_(model), silo_(silo) {
    const int64_t n = silo.size(), bits = model.code_dims();
    if (model.options().networks.common_start) {
      // The first epoch pulls a class to the sum of its buffers.  Drawn alone,
      // every silo would pull it elsewhere.
      const torch::Tensor& L = silo.all.labels;
      const torch::Tensor codes = RandomNormal({L.size(1), bits}, common).to(L.device());
      F_ = L.mm(codes) / L.sum(1, /*keepdim=*/true).clamp_min(1).sqrt();
      G_ = F_.clone();
    } else {
      F_ = RandomNormal({n, bits}, own).to(silo.all.image.device());
      G_ = RandomNormal({n, bits}, own).to(silo.all.image.device());
    }
    EndEpoch();
  }

  std::vector<Step> PlanEpoch(int, int64_t batch, Random& random) override {
    return PlanAlternating(silo_.size(), batch, model_.options().networks.fresh, random);
  }

  torch::Tensor Loss(const Step& step, Seen& seen) override {
    const bool image = step.trains.front() == Modality::kImage;
    const Batch batch = silo_.all.Select(step.rows);
    Encoded& encoded = image ? seen.image : seen.text;
    encoded = model_.Encode(step.trains.front(), image ? batch.image : batch.text);
    return OneSided(encoded, image ? F_ : G_, image ? G_ : F_, step.rows, batch.labels);
  }

  // B = sign(gamma (F + G)), which minimises J over B for gamma > 0.
  void EndEpoch() override { B_ = torch::where(F_ + G_ > 0, 1.0, -1.0).to(torch::kFloat); }

  TensorMap State() const override { return Copy({{"F", F_}, {"G", G_}, {"B", B_}}); }
  void SetState(const TensorMap& state) override {
    F_.copy_(state.at("F"));
    G_.copy_(state.at("G"));
    B_.copy_(state.at("B"));
  }

 private:
  // L_x = 1/(n b) { sum_{i in I, j} [softplus(theta_ij) - S_ij theta_ij]
  //                 + gamma sum_{i in I} |B_i - f_i|^2
  //                 + eta |sum_{i in I} f_i + sum_{j not in I} F_j|^2 }
  // with f the batch's new outputs, `own` the buffer of their codes, `other`
  // the modality that theta looks across to.
  torch::Tensor OneSided(const Encoded& encoded, torch::Tensor& own, const torch::Tensor& other,
                         const torch::Tensor& rows, const torch::Tensor& labels) {
    const torch::Tensor& f = encoded.output;
    const torch::Tensor on_device = rows.to(own.device());
    own.index_copy_(0, on_device, encoded.code.detach());
    const torch::Tensor theta = 0.5 * f.mm(other.t());
    const torch::Tensor S = labels.mm(silo_.all.labels.t()).gt(0).to(torch::kFloat);
    const torch::Tensor likelihood = (torch::softplus(theta) - S * theta).sum();
    const torch::Tensor quantization = (B_.index_select(0, on_device) - f).square().sum();
    const torch::Tensor rest = own.sum(0) - encoded.code.detach().sum(0);
    const torch::Tensor balance = (f.sum(0) + rest).square().sum();
    const auto& o = model_.options();
    return (likelihood + o.gamma * quantization + o.eta * balance) /
           (static_cast<double>(silo_.size()) * static_cast<double>(f.size(0)));
  }

  const Dcmh& model_;
  const Silo& silo_;
  torch::Tensor F_, G_, B_;
};

std::unique_ptr<Learner> Dcmh::Learn(const Silo& silo, Random own, Random common) {
  RequireLabels(silo, "dcmh");
  return std::make_unique<DcmhLearner>(*this, silo, own, common);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Dcmh>(shape, DcmhOptions::From(table), random);
}

}  // namespace

ModelKind DcmhKind() {
  return {
      .name = "dcmh",
      .summary = "inner products tell shared labels; one modality trained at a time (CVPR 2017)",
      .supervised = true,
      .presets = {{"default",
                   {"training.optimizer=adam", "training.learning_rate=0.001",
                    "training.batch=32"}},
                  {"paper",
                   {"model.hidden_image=4096", "model.hidden_text=8192", "model.eta=1.0",
                    "model.init_deviation=0.01", "model.sampling=fresh", "model.start=private",
                    "training.optimizer=sgd",
                    "training.learning_rate=0.0316227766",  // 10^-1.5
                    "training.batch=128"}}},
      .make = Make};
}

}  // namespace crossilo

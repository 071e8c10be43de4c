// DSCMR: one common space for both modalities in which a shared classifier
// reads the label.  Real-valued: ranked by cosine.
//
// Zhen, Hu, Wang and Peng, Deep Supervised Cross-Modal Retrieval, CVPR 2019.
//
//   L = term1 + alpha term2 + beta term3
//   term1 = mean_i |P(u_i) - y_i| + mean_i |P(v_i) - y_i|
//   term2 = mean_ij [log(1 + e^th) - Sim_ij th] over uu, uv and vv,
//           th = 1/2 cos, Sim = Y Y^T
//   term3 = mean_i |u_i - v_i|

#include "crossilo/models/common_space.h"
#include "crossilo/models/hash_model.h"
#include "crossilo/models/require_labels.h"

namespace crossilo {
namespace {

struct DscmrOptions {
  int64_t dims = 1024, hidden = 2048;
  double alpha = 1e-3, beta = 1e-1, slope = 1;
  bool shuffle = true;

  static DscmrOptions From(const Config& table) {
    DscmrOptions o;
    o.dims = table.Int("dims", o.dims, "dimensions of the common space", 1);
    o.hidden = table.Int("hidden", o.hidden, "width of each modality's own layer", 1);
    o.alpha = table.Real("alpha", o.alpha, "weight of term 2, cosines that tell classes apart", 0);
    o.beta = table.Real("beta", o.beta, "weight of term 3, a pair's two points close together", 0);
    o.slope =
        table.Real("slope", o.slope,
                   "of the common layer below zero: 1 is linear (DSCMR), 0.01 is FedCMR's", 0, 1);
    o.shuffle = table.Flag("shuffle", o.shuffle, "new batches every epoch; the authors do not");
    return o;
  }
};

class Dscmr final : public HashModel {
 public:
  Dscmr(const ModelShape& shape, const DscmrOptions& options, Random random)
      : HashModel(shape), options_(options) {
    AddLinear("image.own", shape.image_dims, options.hidden, -1, random);
    AddLinear("text.own", shape.text_dims, options.hidden, -1, random);
    AddLinear("common", options.hidden, options.dims, -1, random);
    AddLinear("classifier", options.dims, shape.classes, -1, random);
  }

  Encoded Forward(Modality modality, const torch::Tensor& x) const override {
    Encoded out;
    out.hidden = torch::relu(ApplyLinear(NameOf(modality) + ".own", x));
    out.raw = ApplyLinear("common", out.hidden);
    out.output = options_.slope == 1 ? out.raw : torch::leaky_relu(out.raw, options_.slope);
    return out;
  }

  torch::Tensor Predict(const torch::Tensor& common) const {
    return ApplyLinear("classifier", common);
  }

  int64_t code_dims() const override { return options_.dims; }
  std::vector<std::string> LastLayers() const override { return {"common"}; }
  bool needs_labels() const override { return true; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const DscmrOptions& options() const { return options_; }

 private:
  DscmrOptions options_;
};

class DscmrLearner final : public Learner {
 public:
  DscmrLearner(const Dscmr& model, const Silo& silo) : model_(model), silo_(silo) {}

  std::vector<Step> PlanEpoch(int, int64_t batch, Random& random) override {
    return PlanPairs(silo_.size(), batch, model_.options().shuffle, random);
  }

  torch::Tensor Loss(const Step& step, Seen& seen) override {
    const Batch batch = silo_.all.Select(step.rows);
    seen.image = model_.Encode(Modality::kImage, batch.image);
    seen.text = model_.Encode(Modality::kText, batch.text);
    const torch::Tensor &u = seen.image.output, &v = seen.text.output, &y = batch.labels;
    const torch::Tensor term1 = MeanNorm(model_.Predict(u) - y) + MeanNorm(model_.Predict(v) - y);
    const torch::Tensor similar = y.mm(y.t());
    const torch::Tensor term2 =
        Likelihood(u, u, similar) + Likelihood(u, v, similar) + Likelihood(v, v, similar);
    const torch::Tensor term3 = MeanNorm(u - v);
    return term1 + model_.options().alpha * term2 + model_.options().beta * term3;
  }

 private:
  const Dscmr& model_;
  const Silo& silo_;
};

std::unique_ptr<Learner> Dscmr::Learn(const Silo& silo, Random, Random) {
  RequireLabels(silo, "dscmr");
  return std::make_unique<DscmrLearner>(*this, silo);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Dscmr>(shape, DscmrOptions::From(table), random);
}

}  // namespace

ModelKind DscmrKind() {
  return {
      .name = "dscmr",
      .summary = "one common space, one classifier, ranked by cosine (CVPR 2019)",
      .supervised = true,
      .real_valued = true,
      .presets = {{"default",
                   {"training.optimizer=adam", "training.beta1=0.5", "training.learning_rate=0.001",
                    "training.batch=100"}},
                  {"paper",
                   {"training.optimizer=adam", "training.beta1=0.5",
                    "training.learning_rate=0.0001", "training.batch=100", "model.shuffle=false"}}},
      .make = Make};
}

}  // namespace crossilo

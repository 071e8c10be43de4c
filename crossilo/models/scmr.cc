// SCMR: DSCMR's common space S with a second, enhanced space S' behind it, and
// a competition between the two.  Real-valued: ranked by cosine.
//
// The base model of FedSCMR: Li, Li and Shao, Federated learning for supervised
// cross-modal retrieval, World Wide Web 2024.  Numbers are its equations'.
//
//   (8) L = L_imd + alpha L_cs + beta L_ccs
//   (1) L_imd = |P(S_V) - Y| + |P(S_T) - Y|
//   (4) L_cs = l_csd + l_csc
//   (2) l_csd = sum_{x,y in {V,T}} mean_ij [log(1 + e^th) - Sim_ij th],
//               th = 1/2 cos(x_i, y_j), Sim = 1 iff i and j share a label
//   (3) l_csc = |S_V - S_T| + |S'_V - S'_T|
//   (5,6) L_ccs = max(0, |S'_V - S_T| - |S'_V - S_V|)
//               + max(0, |S'_T - S_V| - |S'_T - S_T|)
//
// |.| is the mean length of the rows (norm = row) or, as printed, Frobenius
// norms, divided by the number of rows in (1) only.

#include "crossilo/models/common_space.h"
#include "crossilo/models/hash_model.h"
#include "crossilo/models/require_labels.h"

namespace crossilo {
namespace {

struct ScmrOptions {
  int64_t dims = 1024, hidden = 2048;
  double alpha = 0.1, beta = 0.1, slope = 1;
  bool l_cs = true, l_ccs = true, shuffle = true;
  bool four_terms = true, frobenius = false, matrix_hinge = false, enhanced = false;

  static ScmrOptions From(const Config& table) {
    ScmrOptions o;
    o.dims = table.Int("dims", o.dims, "dimensions of the common space", 1);
    o.hidden = table.Int("hidden", o.hidden, "width of each modality's own layer", 1);
    o.alpha = table.Real("alpha", o.alpha, "weight of L_cs, classes apart and pairs together", 0);
    o.beta = table.Real("beta", o.beta, "weight of L_ccs, the two spaces' competition", 0);
    o.l_cs = table.Flag("l_cs", o.l_cs, "false: without L_cs, an ablation");
    o.l_ccs = table.Flag("l_ccs", o.l_ccs, "false: without L_ccs, an ablation");
    o.slope = table.Real("slope", o.slope,
                         "of the common and the enhancing layers below zero; 1 is linear", 0, 1);
    o.shuffle = table.Flag("shuffle", o.shuffle, "new batches every epoch; the authors do not");
    o.four_terms = table.Choice("csd", "4term", {"4term", "3term"},
                                "pairs of modalities in l_csd: 4term counts image-text twice, as "
                                "printed; 3term once, as DSCMR does") == "4term";
    o.frobenius = table.Choice("norm", "row", {"row", "frobenius"},
                               "row: mean length of a sample's row; frobenius: of the whole batch, "
                               "as printed, which grows with the batch") == "frobenius";
    o.matrix_hinge = table.Choice("hinge", "sample", {"sample", "matrix"},
                                  "of L_ccs: sample: for each sample, then the mean; matrix: "
                                  "between two norms of the batch, as printed") == "matrix";
    o.enhanced = table.Choice("retrieve", "base", {"base", "enhanced"},
                              "what is ranked: base: S, the common layer's output; enhanced: S', "
                              "what a modality's own enhancing layer makes of S") == "enhanced";
    return o;
  }
};

class Scmr final : public HashModel {
 public:
  Scmr(const ModelShape& shape, const ScmrOptions& options, Random random)
      : HashModel(shape), options_(options) {
    AddLinear("image.own", shape.image_dims, options.hidden, -1, random);
    AddLinear("text.own", shape.text_dims, options.hidden, -1, random);
    AddLinear("common", options.hidden, options.dims, -1, random);
    AddLinear("image.enhance", options.dims, options.dims, -1, random);
    AddLinear("text.enhance", options.dims, options.dims, -1, random);
    AddLinear("classifier", options.dims, shape.classes, -1, random);
  }

  Encoded Forward(Modality modality, const torch::Tensor& x) const override {
    Encoded out;
    out.hidden = torch::relu(ApplyLinear(NameOf(modality) + ".own", x));
    out.raw = ApplyLinear("common", out.hidden);
    out.output = torch::leaky_relu(out.raw, options_.slope);
    if (!options_.enhanced) return out;
    out.hidden = out.output;
    out.raw = ApplyLinear(NameOf(modality) + ".enhance", out.hidden);
    out.output = torch::leaky_relu(out.raw, options_.slope);
    return out;
  }

  // S and S' of what this model encoded; the one it does not rank by is not
  // its output.
  struct Spaces {
    torch::Tensor S, S_;
  };
  Spaces Both(Modality modality, const Encoded& encoded) const {
    if (options_.enhanced) return {encoded.hidden, encoded.output};
    const torch::Tensor raw = ApplyLinear(NameOf(modality) + ".enhance", encoded.output);
    return {encoded.output, torch::leaky_relu(raw, options_.slope)};
  }

  torch::Tensor Predict(const torch::Tensor& S) const { return ApplyLinear("classifier", S); }

  int64_t code_dims() const override { return options_.dims; }
  std::vector<std::string> LastLayers() const override { return {"common"}; }
  bool needs_labels() const override { return true; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const ScmrOptions& options() const { return options_; }

 private:
  ScmrOptions options_;
};

class ScmrLearner final : public Learner {
 public:
  ScmrLearner(const Scmr& model, const Silo& silo)
      : model_(model), o_(model.options()), silo_(silo) {}

  std::vector<Step> PlanEpoch(int, int64_t batch, Random& random) override {
    return PlanPairs(silo_.size(), batch, o_.shuffle, random);
  }

  torch::Tensor Loss(const Step& step, Seen& seen) override {
    const Batch batch = silo_.all.Select(step.rows);
    seen.image = model_.Encode(Modality::kImage, batch.image);
    seen.text = model_.Encode(Modality::kText, batch.text);
    const Scmr::Spaces V = model_.Both(Modality::kImage, seen.image);
    const Scmr::Spaces T = model_.Both(Modality::kText, seen.text);
    torch::Tensor loss = Discrimination(V.S, T.S, batch.labels);
    if (o_.l_cs) {
      const torch::Tensor l_csc = Norm(V.S - T.S) + Norm(V.S_ - T.S_);
      loss = loss + o_.alpha * (Cosines(V.S, T.S, batch.labels) + l_csc);
    }
    if (o_.l_ccs) loss = loss + o_.beta * (Competition(V, T.S) + Competition(T, V.S));
    return loss;
  }

 private:
  // Of all rows together, or the mean over rows.
  torch::Tensor Norm(const torch::Tensor& a) const {
    return o_.frobenius ? (a.square().sum() + 1e-24).sqrt() : MeanNorm(a);
  }

  // L_imd
  torch::Tensor Discrimination(const torch::Tensor& V, const torch::Tensor& T,
                               const torch::Tensor& labels) const {
    const torch::Tensor sum = Norm(model_.Predict(V) - labels) + Norm(model_.Predict(T) - labels);
    return o_.frobenius ? sum / static_cast<double>(labels.size(0)) : sum;
  }

  // l_csd; Sim is symmetric, so the terms VT and TV are equal.
  torch::Tensor Cosines(const torch::Tensor& V, const torch::Tensor& T,
                        const torch::Tensor& labels) const {
    const torch::Tensor similar = labels.mm(labels.t()).gt(0).to(torch::kFloat);
    return Likelihood(V, V, similar) + (o_.four_terms ? 2 : 1) * Likelihood(V, T, similar) +
           Likelihood(T, T, similar);
  }

  // One half of L_ccs: a modality's S' is to be as close to the other's S as to
  // its own.
  torch::Tensor Competition(const Scmr::Spaces& own, const torch::Tensor& other) const {
    const torch::Tensor across = own.S_ - other, within = own.S_ - own.S;
    return o_.matrix_hinge ? torch::relu(Norm(across) - Norm(within))
                           : torch::relu(RowNorms(across) - RowNorms(within)).mean();
  }

  const Scmr& model_;
  const ScmrOptions& o_;
  const Silo& silo_;
};

std::unique_ptr<Learner> Scmr::Learn(const Silo& silo, Random, Random) {
  RequireLabels(silo, "scmr");
  return std::make_unique<ScmrLearner>(*this, silo);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Scmr>(shape, ScmrOptions::From(table), random);
}

}  // namespace

ModelKind ScmrKind() {
  return {
      .name = "scmr",
      .summary = "dscmr with a second, enhanced space that competes with the first (WWW J. 2024)",
      .supervised = true,
      .real_valued = true,
      .presets = {{"default",
                   {"training.optimizer=adam", "training.beta1=0.5", "training.learning_rate=0.001",
                    "training.batch=100"}},
                  {"paper",
                   {"training.optimizer=adam", "training.beta1=0.5",
                    "training.learning_rate=0.0001", "training.batch=10", "model.shuffle=false",
                    "model.slope=0.01"}}},
      .make = Make};
}

}  // namespace crossilo

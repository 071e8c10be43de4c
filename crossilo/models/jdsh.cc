// JDSH: codes of a batch rebuild a joint similarity of its features whose low
// and high ends are stretched by how the similarities are distributed.
//
// Liu, Qian, Guan, Zhan and Ying, Joint-modal Distribution-based Similarity
// Hashing for Large-scale Unsupervised Deep Cross-modal Retrieval, SIGIR 2020.
// Here both networks are heads on frozen features, which are also what S is
// made of; the authors train a hash layer alone on images (layers_image = 1).
//
//   S_x = 2 cos(F_x, F_x) - 1,  S_hi = n(S_I) n(S_T)^T, n scales rows to length 1
//   S0  = a S_I + b S_T + l (S_hi + S_hi^T) / 2
//   S0 < LOC_LEFT - ALPHA SCALE_LEFT:    S0 <- (1 + L1 e^-(S0 - MIN)) S0
//   S0 > LOC_RIGHT + BETA SCALE_RIGHT:   S0 <- (1 + L2 e^(S0 - MAX)) S0
//   S   = mu S0
//   L   = mean (B_I B_T^T - S)^2 + mean (B_T B_I^T - S)^2 - mean_i <b_I^i, b_T^i>
//         + INTRA [mean (B_I B_I^T - S)^2 + mean (B_T B_T^T - S)^2]
//
// The upper bound may be negative; what lies between it and 0 is then pushed
// down, as in the authors' code.  Their constants describe their features.  With
// dsdw = "fit" a silo finds its own, once, before its first epoch: S0 of shuffled
// batches of training's size (S_hi depends on it) over at most 5000 samples, each
// two samples of a batch once, none with itself.  LOC is the middle of the
// fullest bin, SCALE_x the root mean square distance from LOC of what lies on
// that side, MIN and MAX the 0.1% and 99.9% quantiles.

#include <algorithm>
#include <cmath>
#include <optional>

#include "crossilo/models/code_affinity.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

// How similarities are distributed; the defaults are the authors' on MIRFlickr.
struct Distribution {
  double min = -0.52, max = 0.68;
  double loc_left = -0.49, scale_left = 0.019, loc_right = -0.49, scale_right = 0.088;
};

struct JdshOptions {
  CodeAffinityOptions networks;
  double a = 0.5, b = 0.1, l = 0.4, mu = 1.4, intra = 0.1;
  double l1 = 0.1, l2 = 0.2, alpha = 2, beta = 4, dropout = 0;
  bool fit = true;
  Distribution fixed;

  static JdshOptions From(const Config& table) {
    JdshOptions o{.networks = CodeAffinityOptions::From(table)};
    o.a = table.Real("a", o.a, "weight of images in the similarity", 0, 1);
    o.b = table.Real("b", o.b, "weight of text in the similarity", 0, 1);
    o.l = table.Real("l", o.l, "weight of what images and text agree on in the similarity", 0, 1);
    o.mu = table.Real("mu", o.mu, "what the similarity is scaled by", 0);
    o.intra = table.Real("intra", o.intra, "weight of likeness within a modality", 0);
    o.l1 = table.Real("l1", o.l1, "how much low similarities are stretched", 0);
    o.l2 = table.Real("l2", o.l2, "how much high similarities are stretched", 0);
    o.alpha = table.Real("alpha", o.alpha, "low: this many scale_left below loc_left", 0);
    o.beta = table.Real("beta", o.beta, "high: this many scale_right above loc_right", 0);
    o.dropout = table.Real("dropout", o.dropout,
                           "share of image features set to 0 in training, as the authors' trunk "
                           "does with 0.5",
                           0, 0.95);
    o.fit = table.Choice("dsdw", "fit", {"fit", "fixed"},
                         "how similarities are distributed: fit: each silo finds out; fixed: as "
                         "min, max, loc_* and scale_* say") == "fit";
    Distribution& d = o.fixed;
    d.min = table.Real("min", d.min, "dsdw = \"fixed\": lowest similarity", -10, 10);
    d.max = table.Real("max", d.max, "dsdw = \"fixed\": highest similarity", -10, 10);
    d.loc_left = table.Real("loc_left", d.loc_left, "dsdw = \"fixed\": where low ones begin");
    d.scale_left = table.Real("scale_left", d.scale_left, "dsdw = \"fixed\": their spread", 0);
    d.loc_right = table.Real("loc_right", d.loc_right, "dsdw = \"fixed\": where high ones begin");
    d.scale_right = table.Real("scale_right", d.scale_right, "dsdw = \"fixed\": their spread", 0);
    return o;
  }
};

// The middle of the fullest of min(100, sqrt(size)) bins; the lowest of equals.
double Mode(const std::vector<float>& sorted) {
  const double low = sorted.front(), width = sorted.back() - low;
  const double root = std::sqrt(static_cast<double>(sorted.size()));
  const auto bins = static_cast<size_t>(std::clamp(root, 1.0, 100.0));
  std::vector<int64_t> counts(bins);
  for (float x : sorted) {
    const double at = width > 0 ? (x - low) / width * static_cast<double>(bins) : 0;
    ++counts[std::min(bins - 1, static_cast<size_t>(at))];
  }
  const auto fullest = std::max_element(counts.begin(), counts.end()) - counts.begin();
  return low + (static_cast<double>(fullest) + 0.5) * width / static_cast<double>(bins);
}

// Of at least one similarity.
Distribution Describe(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  const double loc = Mode(values);
  double left = 0, right = 0, lefts = 0, rights = 0;
  for (float x : values) {
    (x < loc ? left : right) += (x - loc) * (x - loc);
    (x < loc ? lefts : rights) += 1;
  }
  return {.min = quantile(0.001),
          .max = quantile(0.999),
          .loc_left = loc,
          .scale_left = std::sqrt(left / std::max(1.0, lefts)),
          .loc_right = loc,
          .scale_right = std::sqrt(right / std::max(1.0, rights))};
}

class Jdsh final : public CodeAffinityModel {
 public:
  Jdsh(const ModelShape& shape, const JdshOptions& options, Random random)
      : CodeAffinityModel(shape, options.networks, random), options_(options) {}

  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const JdshOptions& options() const { return options_; }

 private:
  JdshOptions options_;
};

class JdshLearner final : public CodeAffinityLearner {
 public:
  JdshLearner(Jdsh& model, const Silo& silo, Random own)
      : CodeAffinityLearner(model, silo), model_(model), own_(own), draws_(own) {
    if (!model.options().fit) distribution_ = model.options().fixed;
  }

  void BeginRound(Random& random) override {
    CodeAffinityLearner::BeginRound(random);
    draws_ = Random(random.Bits());
  }

  std::vector<Step> PlanEpoch(int epoch, int64_t batch, Random& random) override {
    if (!distribution_) Fit(batch);
    return CodeAffinityLearner::PlanEpoch(epoch, batch, random);
  }

  // The second bound is held against what the first has stretched.  A silo
  // without two samples has no distribution, and nothing is stretched.
  torch::Tensor Target(const torch::Tensor& F_I, const torch::Tensor& F_T) const override {
    const JdshOptions& o = model_.options();
    torch::Tensor S0 = Joint(F_I, F_T);
    if (distribution_) {
      const Distribution& d = *distribution_;
      const double left = d.loc_left - o.alpha * d.scale_left;
      const double right = d.loc_right + o.beta * d.scale_right;
      S0 = torch::where(S0 < left, (1 + o.l1 * torch::exp(d.min - S0)) * S0, S0);
      S0 = torch::where(S0 > right, (1 + o.l2 * torch::exp(S0 - d.max)) * S0, S0);
    }
    return o.mu * S0;
  }

  // S is symmetric, so both cross terms are one, twice.
  torch::Tensor Objective(const torch::Tensor& B_I, const torch::Tensor& B_T,
                          const torch::Tensor& S) const override {
    const torch::Tensor pairs = (B_I * B_T).sum(1).mean();
    return 2 * AffinityLoss(B_I, B_T, S) - pairs +
           model_.options().intra * (AffinityLoss(B_I, B_I, S) + AffinityLoss(B_T, B_T, S));
  }

  TensorMap State() const override {
    TensorMap state = CodeAffinityLearner::State();
    if (model_.options().fit && distribution_) {
      const Distribution& d = *distribution_;
      state["distribution"] = torch::tensor(
          {d.min, d.max, d.loc_left, d.scale_left, d.loc_right, d.scale_right}, torch::kDouble);
    }
    return state;
  }
  void SetState(const TensorMap& state) override {
    CodeAffinityLearner::SetState(state);
    if (!model_.options().fit) return;
    const auto kept = state.find("distribution");
    distribution_.reset();
    if (kept == state.end()) return;
    const double* d = kept->second.data_ptr<double>();
    distribution_ = Distribution{d[0], d[1], d[2], d[3], d[4], d[5]};
  }

 protected:
  // Kept features are scaled up, as torch's dropout does.
  Batch Read(const torch::Tensor& rows) override {
    Batch batch = CodeAffinityLearner::Read(rows);
    const double p = model_.options().dropout;
    if (p > 0) {
      const torch::Tensor kept = RandomUniform(batch.image.sizes(), 0, 1, draws_).ge(p);
      batch.image = batch.image * kept.to(batch.image.device(), torch::kFloat) / (1 - p);
    }
    return batch;
  }

 private:
  torch::Tensor Joint(const torch::Tensor& F_I, const torch::Tensor& F_T) const {
    const JdshOptions& o = model_.options();
    const torch::Tensor S_I = CosineAffinity(F_I), S_T = CosineAffinity(F_T);
    const torch::Tensor S_hi = UnitRows(S_I).mm(UnitRows(S_T).t());
    return o.a * S_I + o.b * S_T + o.l / 2 * (S_hi + S_hi.t());
  }

  // Stops at a million similarities: more would not move the result.
  void Fit(int64_t batch) {
    constexpr int64_t kSamples = 5000;
    constexpr size_t kEnough = 1'000'000;
    torch::NoGradGuard no_grad;
    Random random = own_;
    const int64_t n = std::min(silo().size(), kSamples);
    const torch::Tensor order = RandomPermutation(silo().size(), random);
    std::vector<float> values;
    for (int64_t at = 0; at < n && values.size() < kEnough; at += batch) {
      const Batch some = Read(order.slice(0, at, std::min(n, at + batch)));
      const torch::Tensor S0 = Joint(model_.Input(Modality::kImage, some.image),
                                     model_.Input(Modality::kText, some.text))
                                   .cpu()
                                   .contiguous();
      const float* x = S0.data_ptr<float>();
      const int64_t m = some.size();
      for (int64_t i = 0; i < m; ++i) values.insert(values.end(), x + i * m + i + 1, x + i * m + m);
    }
    if (!values.empty()) distribution_ = Describe(std::move(values));
  }

  const Jdsh& model_;
  const Random own_;  // never drawn from, only copied
  Random draws_;      // of dropout
  std::optional<Distribution> distribution_;
};

std::unique_ptr<Learner> Jdsh::Learn(const Silo& silo, Random own, Random) {
  return std::make_unique<JdshLearner>(*this, silo, own);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Jdsh>(shape, JdshOptions::From(table), random);
}

}  // namespace

ModelKind JdshKind() {
  return {
      .name = "jdsh",
      .summary = "codes rebuild a joint similarity stretched at both ends (SIGIR 2020)",
      .presets = {{"default",
                   {"training.optimizer=sgd", "training.learning_rate=0.01",
                    "training.momentum=0.9", "training.weight_decay=0.0005", "training.batch=32"}},
                  // MIRFlickr's.
                  {"paper",
                   {"model.hidden_image=4096", "model.hidden_text=4096", "model.a=0.5",
                    "model.b=0.1", "model.l=0.4", "model.mu=1.4", "model.intra=0.1", "model.l1=0.1",
                    "model.l2=0.2", "model.dsdw=fixed", "model.alpha_epochs=300",
                    "training.optimizer=sgd", "training.learning_rate=0.01",
                    "training.momentum=0.9", "training.weight_decay=0.0005", "training.batch=32"}}},
      .make = Make};
}

}  // namespace crossilo

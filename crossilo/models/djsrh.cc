// DJSRH: codes of a batch rebuild one similarity of its features, joined over
// both modalities and over neighbours of neighbours.
//
// Su, Zhong and Zhang, Deep Joint-Semantics Reconstructing Hashing for
// Large-Scale Unsupervised Cross-Modal Retrieval, ICCV 2019.  Here both
// networks are heads on frozen features, which are also what S is made of.
//
//   S_x = 2 cos(F_x, F_x) - 1,  St = beta S_I + (1 - beta) S_T
//   S   = mu [(1 - eta) St + (eta / m) St St^T]           m x m, of the batch
//   L   = mean (B_I B_T^T - S)^2
//         + lambda [mean (B_I B_I^T - S)^2 + mean (B_T B_T^T - S)^2]
// with B the codes tanh(alpha h) scaled to length 1, alpha = sqrt(epoch + 1).

#include "crossilo/models/code_affinity.h"

namespace crossilo {
namespace {

struct DjsrhOptions {
  CodeAffinityOptions networks;
  double beta = 0.9, lambda = 0.1, mu = 1.5, eta = 0.4;

  static DjsrhOptions From(const Config& table) {
    DjsrhOptions o{.networks = CodeAffinityOptions::From(table)};
    o.beta =
        table.Real("beta", o.beta, "weight of images in the similarity; text has the rest", 0, 1);
    o.lambda = table.Real("lambda", o.lambda, "weight of likeness within a modality", 0);
    o.mu = table.Real("mu", o.mu, "what the similarity is scaled by", 0);
    o.eta = table.Real("eta", o.eta, "weight of neighbours of neighbours in the similarity", 0, 1);
    return o;
  }
};

class Djsrh final : public CodeAffinityModel {
 public:
  Djsrh(const ModelShape& shape, const DjsrhOptions& options, Random random)
      : CodeAffinityModel(shape, options.networks, random), options_(options) {}

  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;

 private:
  DjsrhOptions options_;
};

class DjsrhLearner final : public CodeAffinityLearner {
 public:
  DjsrhLearner(Djsrh& model, const DjsrhOptions& options, const Silo& silo)
      : CodeAffinityLearner(model, silo), options_(options) {}

  // m is what the batch has, also where it is ragged.
  torch::Tensor Target(const torch::Tensor& F_I, const torch::Tensor& F_T) const override {
    const double beta = options_.beta, eta = options_.eta, m = static_cast<double>(F_I.size(0));
    const torch::Tensor St = beta * CosineAffinity(F_I) + (1 - beta) * CosineAffinity(F_T);
    return options_.mu * ((1 - eta) * St + (eta / m) * St.mm(St.t()));
  }

  torch::Tensor Objective(const torch::Tensor& B_I, const torch::Tensor& B_T,
                          const torch::Tensor& S) const override {
    return AffinityLoss(B_I, B_T, S) +
           options_.lambda * (AffinityLoss(B_I, B_I, S) + AffinityLoss(B_T, B_T, S));
  }

 private:
  const DjsrhOptions options_;
};

std::unique_ptr<Learner> Djsrh::Learn(const Silo& silo, Random, Random) {
  return std::make_unique<DjsrhLearner>(*this, options_, silo);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Djsrh>(shape, DjsrhOptions::From(table), random);
}

}  // namespace

ModelKind DjsrhKind() {
  return {
      .name = "djsrh",
      .summary = "codes rebuild a joint similarity of both modalities' features (ICCV 2019)",
      .presets = {{"default",
                   {"training.optimizer=sgd", "training.learning_rate=0.01",
                    "training.momentum=0.9", "training.weight_decay=0.0005", "training.batch=32"}},
                  // MIRFlickr's.  The authors' 0.001 for images is for the trunk under
                  // the head; where they train the head alone they use 0.01 for both.
                  {"paper",
                   {"model.hidden_image=4096", "model.hidden_text=4096", "model.beta=0.9",
                    "model.lambda=0.1", "model.mu=1.5", "model.eta=0.4", "model.alpha_epochs=80",
                    "training.optimizer=sgd", "training.learning_rate=0.01",
                    "training.momentum=0.9", "training.weight_decay=0.0005", "training.batch=32"}}},
      .make = Make};
}

}  // namespace crossilo

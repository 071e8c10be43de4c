#pragma once

#include <memory>
#include <vector>

#include "crossilo/models/hash_model.h"

namespace crossilo {

// What DJSRH and JDSH have in common: two networks whose codes sharpen from
// epoch to epoch, and a learner that pulls the cosines of a batch's codes to a
// target made of the batch's features.  Nothing here is larger than m x m, m
// the samples of a step.

struct CodeAffinityOptions {
  int64_t bits = 32;
  int64_t hidden_image = 1024, hidden_text = 1024, layers_image = 2;
  bool by_round = false;       // of the epochs that alpha counts
  int64_t alpha_epochs = 200;  // at most; 0: no bound

  static CodeAffinityOptions From(const Config& table);
};

// code = tanh(alpha h), h = Linear, ReLU, Linear.  alpha is 1 until a learner
// sets it, and no sign depends on it.
class CodeAffinityModel : public HashModel {
 public:
  CodeAffinityModel(const ModelShape& shape, const CodeAffinityOptions& options, Random random);
  int64_t code_dims() const override { return networks_.bits; }
  const CodeAffinityOptions& networks() const { return networks_; }
  double alpha() const { return alpha_; }
  void set_alpha(double alpha) { alpha_ = alpha; }

 protected:
  Encoded Forward(Modality modality, const torch::Tensor& x) const override;

 private:
  CodeAffinityOptions networks_;
  double alpha_ = 1;
};

// 2 cos - 1 of every two rows, in [-1, 1].  A row of zeros is at -1 from every
// row and from itself.
torch::Tensor CosineAffinity(const torch::Tensor& x);

// mean_ij (<a_i, b_j> - S_ij)^2
torch::Tensor AffinityLoss(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& S);

// Keeps how many epochs have begun, from which alpha follows: a resumed silo
// encodes as the stopped one did.
class CodeAffinityLearner : public Learner {
 public:
  CodeAffinityLearner(CodeAffinityModel& model, const Silo& silo);

  // S (m x m, without gradient) for a batch whose networks read these inputs.
  virtual torch::Tensor Target(const torch::Tensor& F_I, const torch::Tensor& F_T) const = 0;
  // Of codes with rows of length 1.
  virtual torch::Tensor Objective(const torch::Tensor& B_I, const torch::Tensor& B_T,
                                  const torch::Tensor& S) const = 0;

  void BeginRound(Random& random) override;
  std::vector<Step> PlanEpoch(int epoch, int64_t batch, Random& random) override;
  torch::Tensor Loss(const Step& step, Seen& seen) override;
  TensorMap State() const override;
  void SetState(const TensorMap& state) override;

 protected:
  // What training reads of these samples.
  virtual Batch Read(const torch::Tensor& rows) { return silo_.all.Select(rows); }
  const Silo& silo() const { return silo_; }

 private:
  void SetAlpha();

  CodeAffinityModel& model_;
  const Silo& silo_;
  int64_t epochs_ = 0, round_epochs_ = 0;  // begun: in all rounds, in this one
};

}  // namespace crossilo

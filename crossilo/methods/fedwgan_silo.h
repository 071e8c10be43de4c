#pragma once

#include "crossilo/methods/fedwgan_options.h"
#include "crossilo/methods/method.h"
#include "crossilo/methods/synthesis_upload.h"
#include "crossilo/methods/wgan.h"
#include "crossilo/methods/wgan_health.h"

namespace crossilo {

// What a silo does for FedWGAN besides the inner method's training: it finds
// prototypes of its pairs and trains a generator of such.
class SiloSynthesis {
 public:
  // Throws Error where the options do not go with the model's input stage.
  SiloSynthesis(const ClientSetup& setup, const FedWganOptions& options);

  // Whether L_J of real pairs can move anything.
  bool AlignsReal() const;
  // Called before the inner method's training.
  void Begin(int round);
  // gamma a JSD(Q^I || Q^T) of a step's samples.
  std::vector<LossTerm> RealJsd(const Step& step, const Seen& seen) const;
  // Called after it: the WGAN's, and what the silo sends; nothing of fewer than
  // two samples.
  TensorMap Train();

  // generator: its GeneratorHealth; restarts: how often one started anew;
  // prototypes_of_one_sample; memorisation_*: see Memorisation.
  const Facts& facts() const { return facts_; }

  TensorMap State() const;
  void SetState(const TensorMap& state);

 private:
  Random Stream(const char* purpose) const;
  SynthesisUpload FindPrototypes(const torch::Tensor& F);
  void TrainGenerator(const torch::Tensor& F);
  GeneratorHealth Check(const torch::Tensor& F, const torch::Tensor& F_g, Random& random);
  void RestartIfLost(GeneratorHealth health, const torch::Tensor& F_g);

  FedWganOptions o_;
  ClientSetup setup_;
  Wgan gan_;     // G_k and D_k, kept from round to round
  PairViews C_;  // C^k of the round
  int round_ = 0;
  double alpha_ = 1;  // a
  CollapseCount collapsed_;
  int64_t restarts_ = 0;
  Facts facts_;
};

}  // namespace crossilo

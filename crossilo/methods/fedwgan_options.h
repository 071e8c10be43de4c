#pragma once

#include "crossilo/methods/synthesis.h"

namespace crossilo {

// FedWGAN's keys, of both halves.
struct FedWganOptions {
  bool gan = true, train_generators = true;
  PairSpace space = PairSpace::kFeatures;  // where prototypes are
  int64_t prototypes = 20;                 // M
  bool literal_steps = false;              // the base takes a step with each of the WGAN's

  // Of a silo's generator.
  int64_t gan_epochs = 0;  // 0: as many as the base's
  std::string output = "auto";
  double collapse = 0.1;
  int64_t patience = 3, memorisation = 256;
  WganOptions wgan;
  SynthesisLosses losses;

  // Of the hub's pairs.
  double mu = 0.2;
  bool filter = true, fixed = false;
  double theta = 0.1, quantile = 0.9;
  int64_t global_epochs = 1;
  double global_rate = 0;  // 0: the silos'

  static FedWganOptions From(const Config& table);

 private:
  void ReadGenerator(const Config& table);
  void ReadHub(const Config& table);
};

}  // namespace crossilo

#pragma once

#include <functional>
#include <memory>

#include "crossilo/methods/method.h"
#include "crossilo/methods/mixing_rule.h"

namespace crossilo {

// The two halves of FedCMR and FedSCMR.  Silos train, send the layers of the
// common subspace with what the hub weighs them by, and are replied with the
// mix; all other layers stay where they are.  The methods differ in the
// settings and in the rule.

struct SubspaceOptions {
  bool all_layers = false;  // travel, and not the last ones only
  double residual = 0;      // r of W_k <- W - r (W_k - W_old)
  double refine = 0;  // share of the samples, drawn anew every round, that trains on the reply
  double TrainingResult::*loss = &TrainingResult::loss;  // what is sent as the loss
  // Sent as the mAP; none: none is sent.  Measured after training on the
  // samples that never train or, where `validation` leaves none, on those that
  // do; on 1000 of them at most, which stay the same for the whole run.
  std::function<double(const HashModel& model, const Batch& samples)> score = {};
  double validation = 0;  // share of the samples that never trains
};

// Sends, all of it to be read silo by silo: "w/<name>", "samples", "classes",
// "loss" and where asked "map".
std::unique_ptr<Client> SubspaceClient(const ClientSetup& setup, const SubspaceOptions& options);

// W = sum_k f_k W_k over those who took part, f by the rule.  With all layers
// W is the global model; else there is none.
std::unique_ptr<Server> SubspaceServer(const ServerSetup& setup, bool all_layers, MixingRule rule);

}  // namespace crossilo

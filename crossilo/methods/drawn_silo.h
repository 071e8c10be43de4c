#pragma once

#include <vector>

#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

// A silo's samples, or as many drawn from them, once for the whole run.
struct DrawnSilo {
  Silo silo;
  torch::Tensor rows;  // of the silo drawn from; undefined: all, in order

  DrawnSilo(const Silo& from, bool bootstrap, uint64_t seed) : silo(from) {
    if (!bootstrap) return;
    Random random(seed, {static_cast<uint64_t>(from.id)}, "bootstrap");
    std::vector<int64_t> drawn(from.size());
    for (int64_t& row : drawn) row = static_cast<int64_t>(random.Below(from.size()));
    rows = IndexTensor(drawn);
    silo.all = from.all.Select(rows);
  }

  // A stage around the method knows the samples by their numbers in the silo
  // drawn from.
  ClientSetup SetupLike(const ClientSetup& setup) const {
    ClientSetup own{silo, setup.model, setup.training, setup.seed, setup.silos, setup.stage_loss};
    if (rows.defined() && setup.stage_loss) {
      own.stage_loss = [stage = setup.stage_loss, rows = rows](Step step, const Seen& seen) {
        step.rows = rows.index_select(0, step.rows);
        return stage(step, seen);
      };
    }
    return own;
  }
};

}  // namespace crossilo

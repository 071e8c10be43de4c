#pragma once

#include <functional>

#include "crossilo/methods/fedwgan_options.h"
#include "crossilo/methods/method.h"

namespace crossilo {

// Pairs that the silos' generators made and the filter kept.
struct GeneratedPairs {
  // image and text, one row a pair; labels and coarse where the base needs them.
  // On the CPU; empty where no generator could be used.
  TensorMap kept;
  // generators_used, theta; synthesised and kept, where there are any.
  Facts facts;

  int64_t size() const { return kept.empty() ? 0 : kept.at("image").size(0); }
};

// From every silo's message, as SynthesisUpload reads it.  `model` reads pairs as
// generators make them; `stream` makes the round's streams, by purpose and silo.
GeneratedPairs GeneratePairs(const std::map<int, TensorMap>& sent, const HashModel& model,
                             const PairShape& shape, const FedWganOptions& options,
                             const std::function<Random(const char*, int)>& stream);

}  // namespace crossilo

#pragma once

#include "crossilo/methods/method.h"

namespace crossilo {

// Facts as part of a state, and back: "facts/<name>", one number each.
inline TensorMap FactsAsTensors(const Facts& facts) {
  TensorMap tensors;
  for (const auto& [name, x] : facts)
    tensors["facts/" + name] = torch::full({1}, x, torch::kDouble);
  return tensors;
}

inline Facts FactsIn(const TensorMap& state) {
  Facts facts;
  for (const auto& [name, x] : Under("facts/", state)) facts[name] = x.item<double>();
  return facts;
}

}  // namespace crossilo

#pragma once

#include "crossilo/base/error.h"
#include "crossilo/data/silo.h"

namespace crossilo {

// Throws Error where a base that learns from labels meets a silo without.
inline void RequireLabels(const Silo& silo, const char* base) {
  if (silo.all.labels.defined()) return;
  throw Error(
      "{} learns from labels and this dataset has none; use an unsupervised base such as ucch",
      base);
}

}  // namespace crossilo

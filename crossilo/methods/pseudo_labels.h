#pragma once

#include <vector>

#include "crossilo/data/silo.h"

namespace crossilo {

// Gives silos without labels classes that mean the same everywhere, for methods
// that need some.  Every silo clusters its own pairs (both modalities scaled to
// length 1, side by side) and sends its centres; the hub
// clusters all centres and sends its own back; a sample's
// class is the nearest.  That one exchange, before the first round, is all that
// leaves a silo.  Any labels there were are replaced.
void SetPseudoLabels(std::vector<Silo>& silos, int64_t classes, uint64_t seed);

}  // namespace crossilo

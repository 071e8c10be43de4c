#include "crossilo/methods/averaging.h"

namespace crossilo {

double AveragingWeight(const Config& table, double samples) {
  const std::string weights =
      table.Choice("weights", "samples", {"samples", "uniform"},
                   "a silo's share of the mean: by its number of samples, or all alike");
  return weights == "samples" ? samples : 1;
}

}  // namespace crossilo

#include "crossilo/privacy/combiner.h"

namespace crossilo {

TensorMap PlainCombiner::Mean(const std::vector<Share>& shares) {
  if (shares.empty()) return {};
  double total = 0;
  for (const Share& share : shares) total += share.weight;
  TensorMap mean = ZerosLike(shares.front().tensors);
  for (const Share& share : shares) {
    for (auto& [name, sum] : mean) sum.add_(share.tensors.at(name), share.weight / total);
  }
  return mean;
}

}  // namespace crossilo

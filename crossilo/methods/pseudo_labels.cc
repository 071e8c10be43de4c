#include "crossilo/methods/pseudo_labels.h"

#include "crossilo/tensors/kmeans.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

torch::Tensor Fused(const Silo& silo) {
  return torch::cat({UnitRows(silo.all.image), UnitRows(silo.all.text)}, 1).cpu();
}

}  // namespace

void SetPseudoLabels(std::vector<Silo>& silos, int64_t classes, uint64_t seed) {
  const KMeansOptions options{.clusters = classes, .fewer = true};
  std::vector<torch::Tensor> sent;
  for (const Silo& silo : silos) {
    if (silo.size() == 0) continue;
    Random random(seed, {static_cast<uint64_t>(silo.id)}, "pseudo labels");
    sent.push_back(Cluster(Fused(silo), options, random).centres);
  }
  Random random(seed, {}, "pseudo labels at the hub");
  const torch::Tensor centres = Cluster(torch::cat(sent), options, random).centres;
  for (Silo& silo : silos) {
    const torch::Tensor nearest = NearestCentre(Fused(silo), centres, Distance::kEuclidean);
    silo.all.labels = torch::eye(classes).index_select(0, nearest).to(silo.all.image.device());
  }
}

}  // namespace crossilo

#include "crossilo/methods/ptfuch_losses.h"

#include "crossilo/tensors/kmeans.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

torch::Tensor Fused(const torch::Tensor& hid_I, const torch::Tensor& hid_T) {
  return UnitRows((hid_I + hid_T) / 2);
}

torch::Tensor BatchQueue::Before(const torch::Tensor& batch) {
  if (batch.size(0) == rows_) return queue_ = batch.clone();
  if (!queue_.defined()) queue_ = torch::zeros({rows_, batch.size(1)});
  return torch::cat({queue_, batch});
}

Clustering ClusterRows(const torch::Tensor& rows, int64_t clusters, int64_t iterations,
                       Random& random) {
  if (rows.size(0) == 0) return {rows, torch::empty({0}, torch::kLong)};
  const KMeansOptions options{
      .clusters = clusters, .iterations = iterations, .distance = Distance::kCosine, .fewer = true};
  const KMeans found = Cluster(rows, options, random);
  const int64_t k = found.centres.size(0);
  const torch::Tensor sums = torch::zeros_like(found.centres).index_add(0, found.assignment, rows);
  const torch::Tensor counts = torch::bincount(found.assignment, {}, k).clamp_min(1);
  return {sums / counts.unsqueeze(1), found.assignment};
}

// Both modalities one below the other: the sum of two means over m rows is
// twice the mean over 2m.
torch::Tensor ClusterLoss(const torch::Tensor& hid_I, const torch::Tensor& hid_T,
                          const torch::Tensor& centroids, const torch::Tensor& labels) {
  constexpr double kHandicap = 0.001;
  const torch::Tensor y = labels.repeat({2}).unsqueeze(1);
  const torch::Tensor products = torch::cat({hid_I, hid_T}).mm(centroids.t());
  const torch::Tensor onehot = torch::zeros_like(products).scatter(1, y, 1.0);
  const torch::Tensor logits = products - kHandicap * onehot;
  return 2 * (torch::logsumexp(logits, 1) - logits.gather(1, y).squeeze(1)).mean();
}

// The four products are the quarters of one.
torch::Tensor DistillationLoss(const torch::Tensor& I_s, const torch::Tensor& T_s,
                               const torch::Tensor& I_t, const torch::Tensor& T_t) {
  const torch::Tensor s = UnitRows(torch::cat({I_s, T_s})), t = UnitRows(torch::cat({I_t, T_t}));
  return 4 * (s.mm(s.t()) - t.mm(t.t())).square().mean();
}

torch::Tensor Adaptive(const torch::Tensor& l_kd_s, const torch::Tensor& l_clu) {
  return l_kd_s / l_clu.clamp_min(1e-6);
}

}  // namespace crossilo

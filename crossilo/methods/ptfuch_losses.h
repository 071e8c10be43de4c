#pragma once

#include "crossilo/base/random.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// What PT-FUCH computes of one batch besides the base's own loss.  Rows of
// `hid` and `out` are samples: an encoder's output before and after its
// activation.

// normalise((hid_I + hid_T) / 2): what is clustered.
torch::Tensor Fused(const torch::Tensor& hid_I, const torch::Tensor& hid_T);

// The authors' queue: as many rows as a full batch, zeros at first.  A full
// batch replaces it and is clustered alone; a smaller one is clustered behind
// what the queue holds, and not kept.
class BatchQueue {
 public:
  explicit BatchQueue(int64_t rows) : rows_(rows) {}
  // What to cluster; the batch's own rows are the last.
  torch::Tensor Before(const torch::Tensor& batch);

 private:
  int64_t rows_;
  torch::Tensor queue_;  // undefined: zeros
};

struct Clustering {
  torch::Tensor centroids;  // k x d: means of rows of length 1, so shorter than 1
  torch::Tensor labels;     // int64, one a row, in [0, k)
};

// Cosine k-means of rows of length 1 on the CPU; fewer rows than `clusters`: one
// cluster a row; no rows: none.
Clustering ClusterRows(const torch::Tensor& rows, int64_t clusters, int64_t iterations,
                       Random& random);

// L_clu = CE(hid_I C^T - 0.001 onehot(y), y) + CE(hid_T C^T - 0.001 onehot(y), y)
// with the centroids C and labels y of a clustering, on the device of hid.
torch::Tensor ClusterLoss(const torch::Tensor& hid_I, const torch::Tensor& hid_T,
                          const torch::Tensor& centroids, const torch::Tensor& labels);

// Sum of mse(A_s B_s^T, A_t B_t^T) over A and B, each image or text, of the
// student's (s) and the teacher's (t) outputs with rows scaled to length 1.
torch::Tensor DistillationLoss(const torch::Tensor& I_s, const torch::Tensor& T_s,
                               const torch::Tensor& I_t, const torch::Tensor& T_t);

// L_kd = L_kd_s / L_clu, the divisor at least 1e-6.  Gradients flow through
// both, so that a clustering is kept from becoming cheap.
torch::Tensor Adaptive(const torch::Tensor& l_kd_s, const torch::Tensor& l_clu);

}  // namespace crossilo

#pragma once

#include "crossilo/methods/synthesis_losses.h"
#include "crossilo/methods/wgan_networks.h"
#include "crossilo/models/hash_model.h"
#include "crossilo/tensors/kmeans.h"

namespace crossilo {

torch::Device DeviceOf(const HashModel& model);

// Of the pairs that the model's base reads.  `output` is "linear", "unit",
// "tanh" or "auto": unit where the input stage scales rows to length 1, so do not
// call it after SkipInput().
PairShape PairShapeOf(const HashModel& model, const std::string& output);

// F: what the base reads of every sample, both modalities side by side, without
// gradients.
torch::Tensor PairFeatures(const HashModel& model, const Batch& all);

// The columns of images and of texts, and all.
PairViews Halves(const torch::Tensor& F, int64_t image_dims);

// Where pairs are compared with prototypes.  kFeatures: Halves.  kCodes: the codes of both, and
// their mean scaled to length 1; the model's input stage must leave its own results as they are, or
// be skipped.
enum class PairSpace { kFeatures, kCodes };
PairViews ViewsOf(const torch::Tensor& F, const HashModel& model, PairSpace space);
// Of prototypes that were found among ViewsOf(...).fused.
PairViews PrototypeViews(const torch::Tensor& C, const HashModel& model, PairSpace space);

// M centres, or as many as there are points.
KMeans PairPrototypes(const torch::Tensor& points, int64_t M, Random random);

// 1 - the cosine to the row of C that is nearest by it.
torch::Tensor DistanceToNearest(const torch::Tensor& fused, const torch::Tensor& C);
// With linear interpolation; 0 of nothing.
double QuantileOf(const torch::Tensor& values, double q);
// Eq. 13: the numbers of those that are finite and at most theta.
torch::Tensor WithinTheta(const torch::Tensor& distances, double theta);

// The mean labels of every cluster's members, k x l; and the labels that such
// means stand for: those of half of the members or more, at least the commonest.
torch::Tensor ClusterLabels(const torch::Tensor& labels, const torch::Tensor& assignment,
                            int64_t clusters);
torch::Tensor CommonLabels(const torch::Tensor& means);

}  // namespace crossilo

#pragma once

#include <map>

#include "crossilo/models/hash_model.h"

namespace crossilo {

// Class prototypes: the mean output, before the activation, of a class's
// samples, one set a modality.  Between silos and hub they go as
//   "prototype/image"  classes x dims   a silo's vectors times its shares
//   "owners/image"     classes          its share of each class's mean; 0: it has none
// and back as "prototype/image" (zero rows where nobody has the class) and
// "present/image" (1 or 0); "text" likewise.

// 0/1, one row a sample: the classes whose prototypes a sample is part of.
// All of its labels, or with `first` the first one only.  On labels' device.
torch::Tensor Members(const torch::Tensor& labels, bool first);

// What a silo knows of its own prototypes.
class PrototypeSums {
 public:
  PrototypeSums(int64_t classes, int64_t dims) : classes_(classes), dims_(dims) {}

  void Clear() { sums_.clear(), counts_.clear(); }
  // `members` as from Members().
  void Add(Modality modality, const torch::Tensor& raw, const torch::Tensor& members);

  // What a silo has of a class counts once, or by its samples.
  TensorMap Share(bool by_samples) const;
  torch::Tensor Counts(Modality modality) const;  // samples of every class

 private:
  int64_t classes_, dims_;
  std::map<Modality, torch::Tensor> sums_, counts_;
};

// The hub's prototypes from a sum or a mean over silos of their shares; empty
// where the silos sent none.  `silos`: at most so many took part.
TensorMap GlobalPrototypes(const TensorMap& merged, int silos);

// One modality of them, as a silo uses it.
struct Prototypes {
  torch::Tensor P;        // classes x dims
  torch::Tensor present;  // classes; 1 or 0

  // Undefined tensors where the broadcast holds none.
  static Prototypes From(const TensorMap& broadcast, Modality modality, torch::Device device);
  bool defined() const { return P.defined(); }
};

// Mean over batch and dims of (raw - t)^2; t is the mean of the prototypes of a
// sample's classes.  A sample none of whose classes has one adds 0.
torch::Tensor SampleMse(const torch::Tensor& raw, const torch::Tensor& members,
                        const Prototypes& global);
// Mean over dims and the batch's classes of (the class's mean in the batch -
// its prototype)^2; classes without a prototype are left out.
torch::Tensor ClassMse(const torch::Tensor& raw, const torch::Tensor& members,
                       const Prototypes& global);
// |r L - F P^T|^2, with r the length of a code.
torch::Tensor PrototypeSimilarity(const torch::Tensor& F, const torch::Tensor& L,
                                  const Prototypes& global);

}  // namespace crossilo

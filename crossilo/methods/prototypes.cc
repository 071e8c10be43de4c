// Class prototypes and the losses that pull outputs to them.
//
// Tan et al., FedProto: Federated Prototype Learning across Heterogeneous
// Clients, AAAI 2022; for hashing as in Liu et al., Prototype-based Layered
// Federated Cross-Modal Hashing, ICASSP 2023: the embedding is the output layer
// before its activation, every modality has its own set.
//
//   p_c^k = mean of raw over silo k's samples of class c
//   P_c   = sum_k w_c^k p_c^k / sum_k w_c^k,   w = 1 for every owner, or n_c^k
//
// Made for one label a sample.  With several a sample is part of all its
// classes and is pulled to the mean of their prototypes.

#include "crossilo/methods/prototypes.h"

#include <algorithm>

namespace crossilo {
namespace {

torch::Tensor Over(const torch::Tensor& sum, int64_t count) {
  return sum / static_cast<double>(std::max<int64_t>(count, 1));
}

}  // namespace

torch::Tensor Members(const torch::Tensor& labels, bool first) {
  const torch::Tensor has = labels.gt(0).to(torch::kFloat);
  if (!first || has.numel() == 0) return has;
  // Of equal maxima argmax gives the first; a sample without labels stays empty.
  return torch::zeros_like(has).scatter_(1, has.argmax(1, /*keepdim=*/true), 1) * has;
}

void PrototypeSums::Add(Modality modality, const torch::Tensor& raw, const torch::Tensor& members) {
  const torch::Tensor sum = members.t().mm(raw.detach()), count = members.sum(0);
  if (sums_.contains(modality)) {
    sums_[modality] += sum;
    counts_[modality] += count;
  } else {
    sums_[modality] = sum;
    counts_[modality] = count;
  }
}

torch::Tensor PrototypeSums::Counts(Modality modality) const {
  const auto found = counts_.find(modality);
  return found == counts_.end() ? torch::zeros({classes_}) : found->second.to(torch::kCPU);
}

TensorMap PrototypeSums::Share(bool by_samples) const {
  TensorMap share;
  for (Modality m : kModalities) {
    const torch::Tensor n = Counts(m);
    const auto found = sums_.find(m);
    const torch::Tensor sum =
        found == sums_.end() ? torch::zeros({classes_, dims_}) : found->second.to(torch::kCPU);
    share["prototype/" + NameOf(m)] = by_samples ? sum : sum / n.clamp_min(1).unsqueeze(1);
    share["owners/" + NameOf(m)] = by_samples ? n : n.gt(0).to(torch::kFloat);
  }
  return Copy(share);
}

TensorMap GlobalPrototypes(const TensorMap& merged, int silos) {
  TensorMap global;
  for (Modality m : kModalities) {
    const auto sum = merged.find("prototype/" + NameOf(m));
    if (sum == merged.end()) continue;
    const torch::Tensor owners = merged.at("owners/" + NameOf(m));
    // One owner of `silos` is 1 / silos in a mean; masks leave a rest near 0.
    const double least = 0.5 / silos;
    const torch::Tensor present = owners.gt(least);
    const torch::Tensor mean = sum->second / owners.clamp_min(least).unsqueeze(1);
    global[sum->first] = mean.masked_fill(present.logical_not().unsqueeze(1), 0).to(torch::kFloat);
    global["present/" + NameOf(m)] = present.to(torch::kFloat);
  }
  return global;
}

Prototypes Prototypes::From(const TensorMap& broadcast, Modality modality, torch::Device device) {
  const auto P = broadcast.find("prototype/" + NameOf(modality));
  if (P == broadcast.end()) return {};
  return {P->second.to(device), broadcast.at("present/" + NameOf(modality)).to(device)};
}

torch::Tensor SampleMse(const torch::Tensor& raw, const torch::Tensor& members,
                        const Prototypes& global) {
  const torch::Tensor S = members * global.present;
  const torch::Tensor count = S.sum(1, /*keepdim=*/true);
  const torch::Tensor target = S.mm(global.P) / count.clamp_min(1);
  return Over(((raw - target) * count.gt(0)).square().sum(), raw.numel());
}

torch::Tensor ClassMse(const torch::Tensor& raw, const torch::Tensor& members,
                       const Prototypes& global) {
  const torch::Tensor S = members * global.present;
  const torch::Tensor count = S.sum(0).unsqueeze(1);
  const torch::Tensor mean = S.t().mm(raw) / count.clamp_min(1);
  return Over(((mean - global.P) * count.gt(0)).square().sum(),
              count.gt(0).sum().item<int64_t>() * raw.size(1));
}

torch::Tensor PrototypeSimilarity(const torch::Tensor& F, const torch::Tensor& L,
                                  const Prototypes& global) {
  const auto r = static_cast<double>(F.size(1));
  return (r * L - F.mm(global.P.t())).square().sum();
}

}  // namespace crossilo

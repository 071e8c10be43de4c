#pragma once

#include <string>
#include <vector>

#include "crossilo/base/random.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// FedCAFE's memories: a few points of length 1 that stand for where a silo's,
// or the whole federation's, codes lie.

struct MemoryOptions {
  int64_t classes = 0;  // C, the rows of a memory
  std::string form =
      "fused";           // fused: k-means of a pair's mean; two-stage: each modality, then both
  bool aligned = false;  // row c is the mean of class c instead of a k-means centre
};

// P_k of a silo whose pairs have these codes (n x r each) and labels (n x C).
// Fewer pairs than classes: centres repeat.  Aligned: a class the silo does not
// have is a row of zeros.
torch::Tensor LocalMemory(const torch::Tensor& image, const torch::Tensor& text,
                          const torch::Tensor& labels, const MemoryOptions& options,
                          Random& random);

// P_g of the silos' memories.
torch::Tensor GlobalMemory(const std::vector<torch::Tensor>& P_k, const MemoryOptions& options,
                           Random& random);

// S_k of Eq. 9 for every silo, C x C: 1 where row i of P_g and row j of P_k lie
// in the same cluster of all memories together; aligned: the identity.
std::vector<torch::Tensor> SameMeaning(const torch::Tensor& P_g,
                                       const std::vector<torch::Tensor>& P_k,
                                       const MemoryOptions& options, Random& random);

// Eq. 9: Sim_k = sum_ij [log(1 + e^th_ij) - S_ij th_ij], th_ij = 1/2 <P_g,i , P_k,j>.
double MemorySimilarity(const torch::Tensor& P_g, const torch::Tensor& P_k,
                        const torch::Tensor& S_k);

}  // namespace crossilo

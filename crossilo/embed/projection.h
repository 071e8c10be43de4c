#pragma once

#include "crossilo/tensors/torch.h"

// Fewer numbers for the same data; for this room only.
namespace crossilo {

// Principal components: x is best told by mean + basis * y among all bases of
// `dims` directions.
struct Pca {
  torch::Tensor mean;   // d
  torch::Tensor basis;  // d x dims, orthonormal columns, strongest first
};

// Eigenvectors of the covariance of x (n x d), computed in double precision;
// no more directions than x has.
Pca FitPca(const torch::Tensor& x, int64_t dims);

// The `dims` strongest right singular vectors of x (n x d), not centred, as
// columns, by randomised subspace iteration (Halko, Martinsson and Tropp, SIAM
// Review 2011) from a fixed stream of random numbers.
torch::Tensor FitSvd(const torch::Tensor& x, int64_t dims);

// row (d values, most of them may be zero) times basis (d x dims, contiguous
// float), summed in the order of d: the same bits alone and in a crowd, which
// a matrix product does not promise.
void Project(const float* row, const torch::Tensor& basis, float* out);

}  // namespace crossilo

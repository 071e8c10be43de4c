#pragma once

#include "crossilo/base/config.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// Pairs, or the prototypes of pairs, one row each: what of them belongs to the
// image, what to the text, and both in one.
struct PairViews {
  torch::Tensor image, text, fused;
};

struct SynthesisLosses {
  bool cont = true, jsd = true;
  bool literal = false;  // exponents of sums, as Eqs. 4, 5 and 7 are printed
  double lambda = 1, gamma = 0.1, sigma1 = 0.5, sigma2 = 0.5;
  double alpha_last = 0.5;

  static SynthesisLosses From(const Config& table);

  // Of Eq. 10: 1 in round 1, falling by (1 - alpha_last)/R every round.
  double AlphaAt(int round, int64_t rounds) const;
};

// Eqs. 4 and 5, mean over the rows of x (n x d): how little a row resembles its
// prototype, C's row of its label (n, int64), compared with C's others.
// Cosines; a row of zeros has cosine 0.
torch::Tensor IndirectContrast(const torch::Tensor& x, const torch::Tensor& C,
                               const torch::Tensor& labels, double sigma, bool literal);

// Eq. 7 for rows of x and y of equal width, whose pairs have the given labels.
torch::Tensor DirectContrast(const torch::Tensor& x, const torch::Tensor& y,
                             const torch::Tensor& labels, double sigma, bool literal);

// Q: the cosines of x's rows to C's, and their softmax.
torch::Tensor Cosines(const torch::Tensor& x, const torch::Tensor& C);
torch::Tensor PseudoLabelShares(const torch::Tensor& x, const torch::Tensor& C);

// Eq. 9, mean over rows that are distributions.
torch::Tensor JensenShannon(const torch::Tensor& P, const torch::Tensor& Q);

// The nearest prototype of every row, int64, on their device.
torch::Tensor NearestPrototype(const torch::Tensor& fused, const torch::Tensor& C);

// lambda L_c + gamma (1 - alpha) JSD(Q_g^I || Q_g^T) of generated pairs, a
// scalar; undefined where neither counts.
torch::Tensor GeneratorTerms(const PairViews& F_g, const PairViews& C, const SynthesisLosses& o,
                             double alpha);

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crossilo/eval/ranking.h"

namespace crossilo {

// AP = (1/R) sum over h = 1..R of h / rank_h, where rank_h is the rank of the
// h-th hit: the precision at each hit, averaged.  0 without a hit.  With only
// the hits within N it is AP@N, whose divisor is the number of those hits.
double AveragePrecision(std::span<const uint32_t> hit_ranks);

// inverses[k] = 1/k for k = 1..n; inverses[0] = 0.
std::vector<double> Inverses(uint32_t n);

// The expected AP when equally near items come in random order (F. McSherry,
// M. Najork, "Computing Information Retrieval Performance Measures Efficiently
// in the Presence of Tied Scores", ECIR 2008).  A group of t items of which r
// are relevant, after T items of which P are relevant, adds
//
//   (1/R) sum over i = 1..t of  r/t * (P + 1 + (i-1) (r-1)/(t-1)) / (T + i):
//
// place i is relevant with probability r/t, and then each of the i-1 places
// before it in the group with probability (r-1)/(t-1).  With
// S = sum 1/(T+i), and sum (i-1)/(T+i) = t - (T+1) S, that is
//
//   (1/R) r/t * ((P+1) S + (r-1)/(t-1) (t - (T+1) S)).
//
// `inverses` reach the number of items.
double TieAwareAveragePrecision(std::span<const Ranking::Group> groups,
                                std::span<const double> inverses);

// The expected AP of a random order of n items, R of them relevant: the
// formula above with one group of everything, T = P = 0, t = n, r = R and
// S = H_n = sum 1/i,
//
//   E[AP] = (1/n) (H_n + (R-1)/(n-1) (n - H_n)).
//
// 0 for R = 0.
double ChanceAveragePrecision(int64_t n, int64_t relevant, double harmonic);

// Interpolated precision at recall 0, 0.01, ..., 1: the best precision at any
// rank with at least that recall, as TREC defines it.  levels.size() values at
// equal steps.
void InterpolatedPrecision(std::span<const uint32_t> hit_ranks, std::span<double> levels);

// discounts[k] = 1 / log2(k + 1) for k = 1..n; discounts[0] = 0.
std::vector<double> Discounts(int n);

// sum of gain_j * discount_j: `gains` in rank order from rank 1.
double DiscountedGain(std::span<const uint16_t> gains, std::span<const double> discounts);

// The `count` largest of the gains, largest first.
std::vector<uint16_t> LargestGains(std::span<const uint16_t> gains, size_t count);

}  // namespace crossilo

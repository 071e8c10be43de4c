#include "crossilo/index/index.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/codes/cosine.h"

namespace crossilo {

std::vector<CosineHit> TopCosine(std::span<const float> query, std::span<const float> database,
                                 int64_t dim, int64_t k) {
  if (dim < 1 || query.size() != static_cast<size_t>(dim)) {
    throw Error("a query of {} values against rows of {}; use the same model for both",
                query.size(), dim);
  }
  if (k < 0) throw Error("{} hits asked for; ask for 0 or more", k);
  const std::vector<float> from = UnitRows(query, dim), to = UnitRows(database, dim);
  std::vector<float> cosines(to.size() / dim);
  DotProducts(from.data(), to.data(), cosines.size(), dim, cosines.data());

  std::vector<CosineHit> hits(cosines.size());
  for (size_t i = 0; i < hits.size(); ++i) hits[i] = {static_cast<int64_t>(i), cosines[i]};
  const auto end = hits.begin() + std::min<int64_t>(k, static_cast<int64_t>(hits.size()));
  std::partial_sort(hits.begin(), end, hits.end(), [](const CosineHit& a, const CosineHit& b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.id < b.id;
  });
  hits.erase(end, hits.end());
  return hits;
}

}  // namespace crossilo

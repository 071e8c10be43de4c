#include "crossilo/index/rerank.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/codes/cosine.h"

namespace crossilo {
namespace {

constexpr float kUnknown = 2;  // as far as a cosine can say

void Check(const Schema& schema, int column, std::span<const float> query) {
  if (column < 0 || std::cmp_greater_equal(column, schema.columns.size())) {
    throw Error("column {} asked for; the collection has {}", column, schema.columns.size());
  }
  if (schema.vectors.empty() || std::cmp_greater_equal(column, schema.vector_dims.size())) {
    throw Error("the collection keeps no vectors to re-order hits by; build it with them");
  }
  if (std::cmp_not_equal(query.size(), schema.vector_dims[column])) {
    throw Error("a vector of {} values against stored ones of {}; make it with the same model",
                query.size(), schema.vector_dims[column]);
  }
  for (const float v : query) {
    if (!std::isfinite(v)) throw Error("the query's vector has a value that is not finite");
  }
}

}  // namespace

std::vector<Hit> Rerank(const Store& store, int column, std::span<const float> query,
                        std::vector<Hit> hits) {
  Check(store.schema(), column, query);
  // An item may have been removed since it was found, and a file may be damaged:
  // what has no vector of this length and of finite values has none.
  const auto known = [&](Hit& hit) {
    hit.distance = kUnknown;
    const std::optional<Item> item = store.Find(hit.id);
    if (!item || std::cmp_greater_equal(column, item->vectors.size())) return false;
    const std::vector<float>& vector = item->vectors[column];
    if (vector.size() != query.size()) return false;
    const double cosine = Cosine(query.data(), vector.data(), query.size());
    if (std::isnan(cosine)) return false;
    hit.distance = CosineDistance(cosine);
    return true;
  };
  std::vector<Hit> ranked, rest;
  for (Hit& hit : hits) (known(hit) ? ranked : rest).push_back(hit);
  std::sort(ranked.begin(), ranked.end(), [](const Hit& a, const Hit& b) { return Nearer(a, b); });
  ranked.insert(ranked.end(), rest.begin(), rest.end());
  return ranked;
}

}  // namespace crossilo

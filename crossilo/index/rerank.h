#pragma once

#include <span>
#include <vector>

#include "crossilo/index/store.h"

namespace crossilo {

// Hits re-ordered by 1 - cosine of the query's vector with their stored ones
// (a relaxed code or features; see Schema::vectors), then by id; `distance`
// becomes that.  Hits without a stored vector keep their order behind the others, with
// distance 2.  Throws Error where the store keeps none or the lengths differ.
std::vector<Hit> Rerank(const Store& store, int column, std::span<const float> query,
                        std::vector<Hit> hits);

}  // namespace crossilo

#pragma once

#include <string>

#include "crossilo/serve/api.h"
#include "crossilo/serve/searcher.h"

namespace crossilo {

// The JSON of what the server answers, written straight into one string: a
// search's is most of what a request costs here.
std::string HealthJson(const Site& site);
std::string InfoJson(const Site& site, const ApiLimits& limits);
std::string SearchJson(const SearchRequest& request, const SearchReply& reply);
std::string ItemJson(const Item& item);

}  // namespace crossilo

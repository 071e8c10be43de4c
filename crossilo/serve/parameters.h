#pragma once

#include <span>
#include <string>
#include <string_view>

#include "crossilo/serve/api.h"
#include "crossilo/serve/searcher.h"

namespace crossilo {

// One thing that can be said about a search.  The table of them is all that a
// request is read by, and openapi.json is compared with.
struct Parameter {
  std::string_view name;  // in an address: "silo", once for each
  std::string_view key;   // in a JSON body: "silos", a list
  // How a value is read: "text", "id", "number", "real", "flag", "list".
  std::string_view kind;
};

std::span<const Parameter> SearchParameters();

// The search that a request asks for, by its address and its body.  Throws
// BadQuestion naming the parameter and what would be accepted.
SearchRequest ReadSearch(const ApiRequest& request, const ApiLimits& limits);

// Throws BadQuestion naming the first parameter where there is any.
void RefuseParameters(const ApiRequest& request);

// An id as addresses write it, or -1.
int64_t ReadId(std::string_view text);

// A Content-Type without its parameters, in lower case.
std::string MediaType(std::string_view type);
bool IsPictureBody(const std::string& media_type);

}  // namespace crossilo

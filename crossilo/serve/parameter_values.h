#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "crossilo/serve/parameters.h"

namespace crossilo {

// What stands behind a parameter's name.  All throw BadQuestion naming it.

// An address's value as the JSON value that a body would have.
nlohmann::json FromText(const Parameter& parameter, const std::string& text);

// Unless a body's value has the parameter's kind.
void CheckKind(const Parameter& parameter, const nlohmann::json& value);

// Enters a value of the right kind into the search; a list's is a text or many.
void Apply(const Parameter& parameter, const nlohmann::json& value, const ApiLimits& limits,
           SearchRequest& out);

}  // namespace crossilo

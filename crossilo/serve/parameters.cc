#include "crossilo/serve/parameters.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "crossilo/base/nearest.h"
#include "crossilo/serve/parameter_values.h"
#include "crossilo/serve/pictures.h"
#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;

constexpr Parameter kParameters[] = {
    {"words", "words", "text"},       {"like", "like", "id"},       {"k", "k", "number"},
    {"offset", "offset", "number"},   {"silo", "silos", "list"},    {"class", "classes", "list"},
    {"among", "among", "text"},       {"radius", "radius", "real"}, {"rerank", "rerank", "flag"},
    {"distinct", "distinct", "flag"},
};

// A body of ours has two levels.
constexpr int kDeepest = 8;

std::string Known(std::string_view typed, bool in_body) {
  std::vector<std::string> known;
  for (const Parameter& p : kParameters) known.emplace_back(in_body ? p.key : p.name);
  return Suggestion(Shortened(typed), known);
}

const Parameter& Find(std::string_view name, bool in_body) {
  const auto found =
      std::ranges::find(kParameters, name, in_body ? &Parameter::key : &Parameter::name);
  if (found == std::end(kParameters)) {
    throw BadQuestion("there is no parameter '{}'{}", Shortened(name), Known(name, in_body));
  }
  return *found;
}

Json ParseBody(const std::string& body) {
  Json json;
  if (NestingDepth(body) <= kDeepest) json = Json::parse(body, nullptr, false);
  if (!json.is_object()) {
    throw BadQuestion("the body is not a JSON object such as {{\"words\": \"smiling cat\"}}");
  }
  return json;
}

void ReadBody(const ApiRequest& request, const ApiLimits& limits,
              const std::function<void(const Parameter&)>& once, SearchRequest& out) {
  if (MediaType(request.type) == "application/json") {
    const Json body = ParseBody(request.body);
    for (const auto& [key, value] : body.items()) {
      const Parameter& parameter = Find(key, /*in_body=*/true);
      CheckKind(parameter, value);
      once(parameter);
      Apply(parameter, value, limits, out);
    }
  } else if (!request.body.empty()) {
    if (PictureType(request.body).empty()) {
      throw BadQuestion("that is not a picture; send a PNG, JPEG or WebP file");
    }
    out.picture = request.body;
  }
}

}  // namespace

std::span<const Parameter> SearchParameters() { return kParameters; }

SearchRequest ReadSearch(const ApiRequest& request, const ApiLimits& limits) {
  SearchRequest out;
  std::set<std::string_view> given;
  const auto once = [&](const Parameter& parameter) {
    if (!given.insert(parameter.name).second) {
      throw BadQuestion("{} is given twice", parameter.name);
    }
  };
  for (const auto& [name, text] : request.query) {
    const Parameter& parameter = Find(name, /*in_body=*/false);
    if (parameter.kind == "list") {
      given.insert(parameter.name);
    } else {
      once(parameter);
    }
    Apply(parameter, FromText(parameter, text), limits, out);
  }
  if (request.method == "POST") ReadBody(request, limits, once, out);
  if (out.offset + out.k > limits.most_hits) {
    throw BadQuestion("offset and k are {} together; only the first {} hits can be had",
                      out.offset + out.k, limits.most_hits);
  }
  return out;
}

void RefuseParameters(const ApiRequest& request) {
  if (request.query.empty()) return;
  throw BadQuestion("there is no parameter '{}' here; leave it out",
                    Shortened(request.query.begin()->first));
}

std::string MediaType(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return Lower(type);
}

bool IsPictureBody(const std::string& media_type) {
  return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/webp" ||
         media_type == "application/octet-stream";
}

}  // namespace crossilo

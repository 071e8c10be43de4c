#include "crossilo/serve/parameter_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;

// Names of silos and classes in one request, and bytes of each.
constexpr size_t kMostNames = 1000, kLongestName = 1000;

template <typename Number>
std::optional<Number> Parsed(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int64_t Whole(const Parameter& parameter, const Json& value, int64_t least, int64_t most) {
  // A number above 2^63 is unsigned to the parser.
  const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{1} << 62;
  const int64_t number = huge ? -1 : value.get<int64_t>();
  if (number < least || number > most) {
    throw BadQuestion("{} must be from {} to {}", parameter.name, least, most);
  }
  return number;
}

std::string Words(const Json& value, const ApiLimits& limits) {
  const auto& words = value.get_ref<const std::string&>();
  if (const auto count = CountCharacters(words).value_or(0); count > limits.most_words) {
    throw BadQuestion("the words have {} characters; at most {} are read", count,
                      limits.most_words);
  }
  const size_t begin = words.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return words.substr(begin, words.find_last_not_of(" \t\r\n") + 1 - begin);
}

void AddNames(std::vector<std::string>& names, const Parameter& parameter, const Json& value) {
  const auto add = [&](const Json& name) {
    const auto& text = name.get_ref<const std::string&>();
    if (names.size() >= kMostNames || text.size() > kLongestName) {
      throw BadQuestion("{} takes at most {} names of at most {} bytes", parameter.name, kMostNames,
                        kLongestName);
    }
    names.push_back(text);
  };
  if (value.is_string()) return add(value);
  for (const Json& name : value) add(name);
}

int64_t Like(const Json& value) {
  const auto& text = value.get_ref<const std::string&>();
  const int64_t id = ReadId(text);
  if (id < 0) throw BadQuestion("like is '{}'; give an item's id", Shortened(text));
  return id;
}

float Radius(const Json& value) {
  const double radius = value.get<double>();
  if (!std::isfinite(radius) || radius < 0) {
    throw BadQuestion("radius must be a number from 0 on");
  }
  return static_cast<float>(std::min(radius, 1e6));  // no code is as long
}

}  // namespace

Json FromText(const Parameter& parameter, const std::string& text) {
  const std::string_view kind = parameter.kind;
  if (!CountCharacters(text)) throw BadQuestion("'{}' is not valid UTF-8", parameter.name);
  if (kind == "number") {
    if (const auto value = Parsed<int64_t>(text)) return *value;
    throw BadQuestion("{} is '{}'; give a whole number", parameter.name, Shortened(text));
  }
  if (kind == "real") {
    if (const auto value = Parsed<double>(text)) return *value;
    throw BadQuestion("{} is '{}'; give a number", parameter.name, Shortened(text));
  }
  if (kind == "flag") {
    if (text == "1" || text == "true") return true;
    if (text == "0" || text == "false") return false;
    throw BadQuestion("{} is '{}'; give 0 or 1", parameter.name, Shortened(text));
  }
  return text;
}

void CheckKind(const Parameter& parameter, const Json& value) {
  const std::string_view kind = parameter.kind;
  const auto refuse_unless = [&](bool good, std::string_view want) {
    if (!good) throw BadQuestion("{} in the body must be {}", parameter.key, want);
  };
  if (kind == "text") refuse_unless(value.is_string(), "a text");
  if (kind == "id") refuse_unless(value.is_string(), "a text of digits");
  if (kind == "number") refuse_unless(value.is_number_integer(), "a whole number");
  if (kind == "real") refuse_unless(value.is_number(), "a number");
  if (kind == "flag") refuse_unless(value.is_boolean(), "true or false");
  if (kind == "list") {
    refuse_unless(
        value.is_array() && std::ranges::all_of(value, [](const Json& v) { return v.is_string(); }),
        "a list of texts");
  }
}

void Apply(const Parameter& parameter, const Json& value, const ApiLimits& limits,
           SearchRequest& out) {
  const std::string_view name = parameter.name;
  if (name == "words") out.words = Words(value, limits);
  if (name == "like") out.like = Like(value);
  if (name == "k") out.k = Whole(parameter, value, 1, limits.most_hits);
  if (name == "offset") out.offset = Whole(parameter, value, 0, limits.most_hits);
  if (name == "silo") AddNames(out.filter.silos, parameter, value);
  if (name == "class") AddNames(out.filter.classes, parameter, value);
  if (name == "among") out.among = Shortened(value.get_ref<const std::string&>());
  if (name == "radius") out.radius = Radius(value);
  if (name == "rerank") out.rerank = value.get<bool>();
  if (name == "distinct") out.distinct = value.get<bool>();
}

int64_t ReadId(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return -1;
  return Parsed<int64_t>(text).value_or(-1);
}

}  // namespace crossilo

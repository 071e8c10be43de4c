// openapi.json says what the code does: the same paths, methods and parameters,
// and every answer of a small collection fits its schema.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "crossilo/base/file.h"
#include "crossilo/serve/api.h"
#include "crossilo/serve/page.h"
#include "crossilo/serve/parameters.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;

// The part of JSON Schema that openapi.json uses; "" where the value fits.
class Validator {
 public:
  explicit Validator(const Json& document) : document_(document) {}

  const Json& Resolve(const Json& node) const {
    if (!node.contains("$ref")) return node;
    const std::string path = node.at("$ref");
    return document_.at(Json::json_pointer(path.substr(1)));
  }

  std::string Check(const Json& node, const Json& value, const std::string& at = "$") const {
    const Json& schema = Resolve(node);
    static const std::set<std::string> kKnown = {
        "type",    "properties", "required", "items",   "enum",        "additionalProperties",
        "minimum", "maximum",    "default",  "pattern", "description", "contentMediaType"};
    for (const auto& [key, unused] : schema.items()) {
      if (!kKnown.contains(key)) return at + ": the test does not know " + key;
    }
    if (!HasType(value, schema.at("type"))) return at + ": not " + schema.at("type").dump();
    if (schema.contains("enum") &&
        std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
      return at + ": not one of " + schema["enum"].dump();
    }
    if (schema.contains("minimum") && value < schema["minimum"]) return at + ": too small";
    if (schema.contains("maximum") && value > schema["maximum"]) return at + ": too large";
    if (value.is_object()) return CheckObject(schema, value, at);
    if (value.is_array()) {
      for (const Json& entry : value) {
        if (auto wrong = Check(schema.at("items"), entry, at + "[]"); !wrong.empty()) return wrong;
      }
    }
    return "";
  }

 private:
  static bool HasType(const Json& value, const std::string& type) {
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "string"  ? value.is_string()
           : type == "integer" ? value.is_number_integer()
           : type == "number"  ? value.is_number()
           : type == "boolean" ? value.is_boolean()
                               : false;
  }

  std::string CheckObject(const Json& schema, const Json& value, const std::string& at) const {
    const Json properties = schema.value("properties", Json::object());
    const Json required = schema.value("required", Json::array());
    for (const Json& key : required) {
      if (!value.contains(key)) return at + ": lacks " + key.get<std::string>();
    }
    for (const auto& [key, entry] : value.items()) {
      if (!properties.contains(key)) {
        if (!schema.value("additionalProperties", true)) return at + ": has " + key;
        continue;
      }
      if (auto wrong = Check(properties[key], entry, at + "." + key); !wrong.empty()) return wrong;
    }
    return "";
  }

  const Json& document_;
};

class OpenApi : public testing::Test {
 protected:
  OpenApi() {
    WriteFile(folder_ / "cat.png", PictureOfCode(5));
    site_ = SiteOnDisk(folder_, FiveItems());
  }

  ApiResponse Ask(const ApiRequest& request) const {
    return Api([this] { return site_; }, token_).Handle(request);
  }

  // The answer fits what the document says of this path, method and status.
  void ExpectDescribed(const std::string& path, ApiRequest request, int status) {
    request.path = path;
    const size_t brace = path.find('{');
    if (brace != std::string::npos) request.path = path.substr(0, brace) + id_;
    const ApiResponse response = Ask(request);
    ASSERT_EQ(response.status, status) << path << response.body;
    const std::string method = request.method == "POST" ? "post" : "get";
    const Json& responses = document_.at("paths").at(path).at(method).at("responses");
    ASSERT_TRUE(responses.contains(std::to_string(status))) << path << " " << status;
    const Json& content = validator_.Resolve(responses.at(std::to_string(status))).at("content");
    ASSERT_TRUE(content.contains(response.type)) << path << " " << response.type;
    if (response.type != "application/json") return;
    EXPECT_EQ(validator_.Check(content.at(response.type).at("schema"), Json::parse(response.body)),
              "")
        << path << " " << response.body;
  }

  TestFolder folder_{"openapi"};
  std::shared_ptr<Site> site_;
  std::string id_ = "10", token_;
  Json document_ = Json::parse(FindPageFile("/openapi.json")->content);
  Validator validator_{document_};
};

TEST_F(OpenApi, HasThePathsAndMethodsOfTheCode) {
  std::set<std::string> written, known;
  for (const auto& [path, methods] : document_.at("paths").items()) {
    for (const auto& [method, unused] : methods.items()) written.insert(path + " " + method);
  }
  for (const Route& route : Routes()) {
    const std::string path(route.path), methods(route.methods);
    if (methods.find("GET") != std::string::npos) known.insert(path + " get");
    if (methods.find("POST") != std::string::npos) known.insert(path + " post");
    const bool open =
        document_["paths"][path]["get"].value("security", Json()) == Json::array({Json::object()});
    EXPECT_EQ(open, route.open) << path;
  }
  EXPECT_EQ(written, known);
}

TEST_F(OpenApi, HasTheParametersOfTheCode) {
  std::set<std::string> names, keys, lists;
  for (const Parameter& parameter : SearchParameters()) {
    names.emplace(parameter.name);
    keys.emplace(parameter.key);
    if (parameter.kind == "list") lists.emplace(parameter.name);
  }
  for (const char* method : {"get", "post"}) {
    std::set<std::string> written, written_lists;
    for (const Json& entry : document_["paths"]["/api/search"][method]["parameters"]) {
      const Json& parameter = validator_.Resolve(entry);
      written.insert(parameter.at("name"));
      if (parameter.at("schema").at("type") == "array") written_lists.insert(parameter.at("name"));
    }
    EXPECT_EQ(written, names);
    EXPECT_EQ(written_lists, lists);
  }
  std::set<std::string> properties;
  for (const auto& [key, unused] :
       document_["components"]["schemas"]["SearchBody"]["properties"].items()) {
    properties.insert(key);
  }
  EXPECT_EQ(properties, keys);
}

TEST_F(OpenApi, ReferencesLeadSomewhereAndNothingIsLeftOver) {
  std::set<std::string> used;
  const Json flat = document_.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (!path.ends_with("/$ref")) continue;
    EXPECT_NO_THROW(document_.at(Json::json_pointer(value.get<std::string>().substr(1)))) << value;
    used.insert(value);
  }
  for (const char* kind : {"schemas", "parameters", "responses"}) {
    for (const auto& [name, unused] : document_["components"][kind].items()) {
      EXPECT_TRUE(used.contains("#/components/" + std::string(kind) + "/" + name)) << name;
    }
  }
}

TEST_F(OpenApi, AnswersFit) {
  const ApiRequest get = {.method = "GET"};
  ExpectDescribed("/healthz", get, 200);
  ExpectDescribed("/api/info", get, 200);
  ExpectDescribed("/api/items/{id}", get, 200);
  ExpectDescribed("/api/pictures/{id}", get, 200);
  for (const char* among : {"image", "text"}) {
    for (const char* rerank : {"0", "1"}) {
      ExpectDescribed(
          "/api/search",
          {.method = "GET", .query = {{"words", "0"}, {"among", among}, {"rerank", rerank}}}, 200);
    }
  }
  ExpectDescribed("/api/search", {.method = "POST", .type = "image/png", .body = PictureOfCode(0)},
                  200);
}

TEST_F(OpenApi, ErrorsFit) {
  const ApiRequest get = {.method = "GET"};
  const ApiRequest bad = {.method = "GET", .query = {{"x", "1"}}};
  for (const auto& [path, unused] : document_.at("paths").items()) ExpectDescribed(path, bad, 400);
  const auto post = [](const std::string& type, std::string body) {
    return ApiRequest{.method = "POST", .type = type, .body = std::move(body)};
  };
  ExpectDescribed("/api/search", post("text/plain", "x"), 415);
  ExpectDescribed("/api/search", post("image/png", std::string(17u << 20, 'x')), 413);
  ExpectDescribed("/api/search", post("application/json", "["), 400);
  ExpectDescribed("/api/search", {.method = "GET", .query = {{"words", "inside"}}}, 500);
  id_ = "99";
  ExpectDescribed("/api/items/{id}", get, 404);
  ExpectDescribed("/api/pictures/{id}", get, 404);
  site_ = nullptr;
  for (const auto& [path, unused] : document_.at("paths").items()) ExpectDescribed(path, get, 503);
  token_ = "secret";
  for (const Route& route : Routes()) {
    if (!route.open) ExpectDescribed(std::string(route.path), get, 401);
  }
}

// The judge itself can say no.
TEST_F(OpenApi, TheValidatorFindsWhatIsWrong) {
  const Json schema = {{"$ref", "#/components/schemas/Health"}};
  const auto check = [&](const char* json) { return validator_.Check(schema, Json::parse(json)); };
  EXPECT_EQ(check(R"({"status":"ok","generation":1})"), "");
  EXPECT_EQ(check(R"({"status":"ok"})"), "$: lacks generation");
  EXPECT_EQ(check(R"({"status":"ok","generation":1,"x":1})"), "$: has x");
  EXPECT_EQ(check(R"({"status":"ok","generation":"1"})"), "$.generation: not \"integer\"");
  EXPECT_EQ(check(R"({"status":"ko","generation":1})"), "$.status: not one of [\"ok\"]");
  EXPECT_EQ(check(R"({"status":"ok","generation":-1})"), "$.generation: too small");
}

}  // namespace
}  // namespace crossilo

// Random and changed requests: whatever is asked, a whole answer comes back,
// its JSON is valid, and nothing of the inside is in it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/serve/api.h"
#include "crossilo/serve/pictures.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;

class ApiFuzz : public testing::Test {
 protected:
  ApiFuzz() {
    WriteFile(folder_ / "cat.png", PictureOfCode(5));
    site_ = SiteOf(FiveItems(), 1, {folder_.path()});
  }

  uint64_t Below(uint64_t n) { return random_.Below(n); }
  template <size_t kSize>
  std::string Any(const char* const (&choices)[kSize]) {
    return choices[Below(kSize)];
  }
  std::string Bytes(size_t most) {
    std::string out(Below(most + 1), ' ');
    for (char& c : out) c = static_cast<char>(Below(256));
    return out;
  }
  std::string Changed(std::string text) {
    for (uint64_t changes = Below(4); changes > 0 && !text.empty(); --changes) {
      const size_t at = Below(text.size());
      if (Below(2) == 0) {
        text[at] = static_cast<char>(Below(256));
      } else {
        text.erase(at, 1 + Below(3));
      }
    }
    return text;
  }

  std::string Value() {
    static const char* const kValues[] = {"0",     "1",
                                          "20",    "ffff",
                                          "-1",    "1000",
                                          "1001",  "99999999999999999999",
                                          "image", "text",
                                          "true",  "nan",
                                          "1e9",   "",
                                          "wide",  "4611686018427387904",
                                          "10",    "13",
                                          "猫",    "\xff",
                                          "0x1",   "<script>alert(1)</script>"};
    switch (Below(12)) {
      case 0:
        return Bytes(20);
      case 1:
        return std::string(100'000, static_cast<char>('a' + Below(3)));
      default:
        return Any(kValues);
    }
  }

  std::string JsonBody() {
    static const char* const kKeys[] = {"words", "like",   "k",      "offset",   "silos", "classes",
                                        "among", "radius", "rerank", "distinct", "silo",  "x"};
    Json body = Json::object();
    for (uint64_t i = Below(4); i > 0; --i) {
      const std::string key = Any(kKeys);
      const Json values[] = {Value(),
                             Below(2000),
                             -1.5,
                             true,
                             Json::array({Value(), Value()}),
                             nullptr,
                             Json::object({{"a", Json::array({Value()})}})};
      body[key] = values[Below(std::size(values))];
    }
    std::string text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (Below(20) == 0) text = std::string(100'000, "[{\""[Below(3)]);
    return Below(2) == 0 ? text : Changed(text);
  }

  ApiRequest Request() {
    static const char* const kMethods[] = {"GET", "GET", "GET", "POST", "POST", "HEAD", "PUT", ""};
    static const char* const kPaths[] = {"/api/search",
                                         "/api/search",
                                         "/api/search",
                                         "/api/info",
                                         "/healthz",
                                         "/",
                                         "/page.js",
                                         "/api/items/10",
                                         "/api/items/4611686018427387904",
                                         "/api/pictures/10",
                                         "/api/pictures/11",
                                         "/api/items/",
                                         "/api/../x",
                                         "//",
                                         ""};
    static const char* const kNames[] = {"words", "like",   "k",      "offset",   "silo",  "class",
                                         "among", "radius", "rerank", "distinct", "silos", "tokn"};
    static const char* const kTypes[] = {"application/json", "image/png",  "application/json; a=b",
                                         "image/jpeg",       "text/plain", "",
                                         "IMAGE/WEBP"};
    ApiRequest out = {.method = Any(kMethods), .path = Any(kPaths)};
    if (Below(4) == 0) out.path = Changed(out.path) + Bytes(5);
    for (uint64_t i = Below(5); i > 0; --i) {
      out.query.emplace(Below(12) == 0 ? Bytes(60) : Any(kNames), Value());
    }
    if (Below(2) == 0) out.query.emplace("words", "f");
    if (out.method == "POST" || Below(10) == 0) {
      out.type = Below(10) == 0 ? Bytes(30) : Any(kTypes);
      const std::string bodies[] = {JsonBody(), JsonBody(), Changed(PictureOfCode(7)), Bytes(200),
                                    PictureOfCode(static_cast<unsigned>(Below(65536)))};
      out.body = bodies[Below(std::size(bodies))];
    }
    if (Below(3) == 0) out.token = Below(2) == 0 ? "token" : Bytes(10);
    return out;
  }

  // The answer is whole.
  void Check(const ApiRequest& request, const ApiResponse& response) {
    static const std::set<int> kStatuses = {200, 400, 401, 404, 405, 413, 415};
    ASSERT_TRUE(kStatuses.contains(response.status)) << response.status << response.body;
    for (const char* name :
         {"X-Content-Type-Options", "Content-Security-Policy", "Cache-Control"}) {
      ASSERT_TRUE(response.headers.contains(name)) << name;
    }
    for (const auto& [name, value] : response.headers) {
      ASSERT_EQ((name + value).find_first_of("\r\n"), std::string::npos);
    }
    if (response.type == "application/json" && request.path != "/openapi.json") {
      const Json body = Json::parse(response.body, nullptr, false);
      ASSERT_TRUE(body.is_object()) << response.body;
      ASSERT_EQ(response.status == 200, !body.contains("error"));
      if (response.status != 200) {
        ASSERT_LT(body["error"].get<std::string>().size(), 600);
      }
    } else if (response.type.starts_with("image/") && request.path.starts_with("/api")) {
      ASSERT_EQ(PictureType(response.body), response.type);
    }
    ASSERT_EQ(response.body.find("/inside"), std::string::npos);
  }

  TestFolder folder_{"api_fuzz"};
  std::shared_ptr<Site> site_;
  Random random_{17, {}, "requests"};
};

TEST_F(ApiFuzz, EveryRequestGetsAWholeAnswer) {
  const Api open([this] { return site_; }, ""), closed([this] { return site_; }, "token");
  std::map<int, int> seen;
  for (int round = 0; round < 20'000; ++round) {
    const ApiRequest request = Request();
    const ApiResponse response = (Below(4) == 0 ? closed : open).Handle(request);
    ++seen[response.status];
    Check(request, response);
    if (HasFatalFailure()) {
      FAIL() << "round " << round << ": " << request.method << " " << request.path;
    }
  }
  // The requests reach all of it, not only the first check.
  for (const int status : {200, 400, 401, 404, 405, 415}) EXPECT_GT(seen[status], 100) << status;
}

// The facts of items come from strangers as well.
TEST_F(ApiFuzz, EveryItemGivesValidJson) {
  for (int round = 0; round < 3'000; ++round) {
    auto items = FiveItems();
    for (Item& item : items) {
      item.facts = Below(5) == 0 ? Bytes(200) : Changed(item.facts);
      item.silo = Bytes(10);
      item.classes = {Bytes(10), Bytes(3)};
    }
    site_ = SiteOf(std::move(items), 1, {folder_.path()});
    const Api api([this] { return site_; }, "");
    for (const char* path : {"/api/search", "/api/info", "/api/items/10", "/api/pictures/10"}) {
      ApiRequest request = {.method = "GET", .path = path};
      if (request.path == "/api/search") {
        request.query = {{"words", "0"}, {"among", Below(2) == 0 ? "text" : "image"}};
      }
      Check(request, api.Handle(request));
      if (HasFatalFailure()) FAIL() << path;
    }
  }
}

}  // namespace
}  // namespace crossilo

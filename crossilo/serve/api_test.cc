#include "crossilo/serve/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crossilo/base/file.h"
#include "crossilo/serve/page.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using Query = std::multimap<std::string, std::string>;

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    WriteFile(folder_ / "cat.png", PictureOfCode(5));
    WriteFile(folder_ / "note.txt", "no picture");
    site_ = SiteOf(FiveItems(), 3, {folder_.path()});
  }

  Api Make(const std::string& token = "") {
    return Api([this] { return site_; }, token, {},
               [this](const std::string& message) { log_ += message; });
  }
  ApiResponse Get(const std::string& path, const Query& query = {}) {
    return Make().Handle({.method = "GET", .path = path, .query = query});
  }
  ApiResponse Post(const std::string& type, const std::string& body, const Query& query = {}) {
    return Make().Handle(
        {.method = "POST", .path = "/api/search", .query = query, .type = type, .body = body});
  }
  static std::vector<std::string> Ids(const ApiResponse& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    std::vector<std::string> out;
    const Json body = Json::parse(response.body);
    for (const Json& hit : body.at("hits")) out.push_back(hit.at("id"));
    return out;
  }
  // The sentence of a response that must have this status.
  static std::string Sentence(int status, const ApiResponse& response) {
    EXPECT_EQ(response.status, status) << response.body;
    const Json body = Json::parse(response.body);
    EXPECT_EQ(body.size(), 1);
    return body.at("error");
  }

  TestFolder folder_{"api"};
  std::shared_ptr<Site> site_;
  std::string log_;
};

TEST_F(ApiTest, SearchByWords) {
  const auto response = Get("/api/search", {{"words", " 0000 "}, {"k", "2"}});
  const Json body = Json::parse(response.body);
  EXPECT_EQ(response.type, "application/json");
  const Json first = {{"id", "10"},
                      {"name", "n/10"},
                      {"caption", "a cat"},
                      {"silo", "north"},
                      {"classes", {"cats"}},
                      {"picture", "/api/pictures/10"},
                      {"facts", {{"house", "n"}}},
                      {"distance", 0.0}};
  EXPECT_EQ(body.at("hits").at(0), first);
  EXPECT_EQ(body.at("hits").size(), 2);
  EXPECT_EQ(body.at("more"), true);
  EXPECT_EQ(body.at("searched"), 4);
  EXPECT_EQ(body.at("generation"), 3);
  EXPECT_EQ(body.at("index"), "flat");
  EXPECT_EQ(body.at("measure"), "bits");
}

TEST_F(ApiTest, EveryParameterHasItsEffect) {
  using testing::ElementsAre;
  const auto with = [&](Query query) {
    query.emplace("words", "0");
    return Ids(Get("/api/search", query));
  };
  EXPECT_THAT(with({}), ElementsAre("10", "11", "12", "13"));
  EXPECT_THAT(with({{"offset", "1"}, {"k", "2"}}), ElementsAre("11", "12"));
  EXPECT_THAT(with({{"silo", "south"}}), ElementsAre("12", "13"));
  EXPECT_THAT(with({{"silo", "south"}, {"silo", "north"}, {"class", "dogs"}, {"class", "smiles"}}),
              ElementsAre("11", "12"));
  EXPECT_THAT(with({{"radius", "1.5"}}), ElementsAre("10", "11"));
  EXPECT_THAT(with({{"rerank", "1"}}), ElementsAre("11", "12", "10", "13"));
  EXPECT_THAT(with({{"among", "text"}}), ElementsAre("4611686018427387904", "10", "12"));
  EXPECT_THAT(with({{"among", "text"}, {"distinct", "0"}}),
              ElementsAre("4611686018427387904", "10", "11", "12"));
  EXPECT_THAT(Ids(Get("/api/search", {{"like", "13"}, {"k", "1"}})), ElementsAre("13"));
}

TEST_F(ApiTest, SearchByPictureAndByJson) {
  using testing::ElementsAre;
  EXPECT_THAT(Ids(Post("image/png", PictureOfCode(0x000f), {{"k", "1"}})), ElementsAre("12"));
  EXPECT_THAT(Ids(Post("application/octet-stream", PictureOfCode(0xff), {{"among", "image"}})),
              ElementsAre("13", "12", "11", "10"));
  EXPECT_THAT(Ids(Post("Application/JSON; charset=utf-8",
                       R"({"words":"0","k":1,"offset":1,"silos":["north","south"],
                           "classes":["cats"],"among":"image","radius":6,"rerank":false})")),
              ElementsAre("11"));
  EXPECT_THAT(Ids(Post("application/json", R"({"like":"12"})", {{"k", "1"}})), ElementsAre("12"));
  EXPECT_THAT(Ids(Post("", "", {{"words", "0"}, {"k", "1"}})), ElementsAre("10"));
  EXPECT_THAT(Sentence(400, Post("application/json", R"({"words":"0","silos":["north"]})",
                                 {{"silo", "south"}})),
              HasSubstr("silo is given twice"));
}

TEST_F(ApiTest, RefusesBadParametersByName) {
  const auto refusal = [&](const Query& query) { return Sentence(400, Get("/api/search", query)); };
  EXPECT_THAT(refusal({{"words", "0"}, {"ofset", "1"}}), HasSubstr("did you mean 'offset'"));
  EXPECT_THAT(refusal({}), HasSubstr("nothing is asked"));
  EXPECT_THAT(refusal({{"words", "   "}}), HasSubstr("nothing is asked"));
  EXPECT_THAT(refusal({{"words", "0"}, {"like", "10"}}), HasSubstr("more than one"));
  EXPECT_THAT(refusal({{"words", "0"}, {"words", "1"}}), HasSubstr("twice"));
  EXPECT_THAT(refusal({{"words", "\xff"}}), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal({{"words", "chat"}}), HasSubstr("none of these words"));
  EXPECT_THAT(refusal({{"words", std::string(100'000, 'a')}}), HasSubstr("at most 1000"));
  for (const char* k : {"", "0", "-1", "1001", "1e2", " 5", "5 ", "0x5", "99999999999999999999"}) {
    EXPECT_THAT(refusal({{"words", "0"}, {"k", k}}), HasSubstr("k ")) << k;
  }
  EXPECT_THAT(refusal({{"words", "0"}, {"offset", "990"}}), HasSubstr("1010 together"));
  for (const char* radius : {"", "-1", "nan", "inf", "6x"}) {
    EXPECT_THAT(refusal({{"words", "0"}, {"radius", radius}}), HasSubstr("radius")) << radius;
  }
  EXPECT_THAT(refusal({{"words", "0"}, {"rerank", "yes"}}), HasSubstr("0 or 1"));
  for (const char* id : {"", "-1", "ten", "9223372036854775808"}) {
    EXPECT_THAT(refusal({{"like", id}}), HasSubstr("an item's id")) << id;
  }
  EXPECT_THAT(Sentence(400, Get("/api/info", {{"words", "0"}})), HasSubstr("'words' here"));
}

TEST_F(ApiTest, AThousandCharactersAreRead) {
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "猫";
  EXPECT_THAT(Sentence(400, Get("/api/search", {{"words", words}})), HasSubstr("none of these"));
  EXPECT_THAT(Sentence(400, Get("/api/search", {{"words", words + "a"}})), HasSubstr("1001"));
}

TEST_F(ApiTest, RefusesBadBodies) {
  const auto json = [&](const std::string& body) {
    return Sentence(400, Post("application/json", body));
  };
  for (const std::string& body : {std::string(), std::string("[1]"), std::string("{\"words\""),
                                  "{\"words\":\"\xff\"}" + std::string(), std::string(500'000, '['),
                                  R"({"words":)" + std::string(500'000, '[')}) {
    EXPECT_THAT(json(body), HasSubstr("not a JSON object")) << body.substr(0, 20);
  }
  EXPECT_THAT(json(R"({"words":"0","silo":["a"]})"), HasSubstr("did you mean 'silos'"));
  EXPECT_THAT(json(R"({"words":1})"), HasSubstr("words in the body must be a text"));
  EXPECT_THAT(json(R"({"like":10})"), HasSubstr("digits"));
  EXPECT_THAT(json(R"({"words":"0","k":"5"})"), HasSubstr("whole number"));
  EXPECT_THAT(json(R"({"words":"0","k":18446744073709551615})"), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(json(R"({"words":"0","silos":["a",1]})"), HasSubstr("list of texts"));
  EXPECT_THAT(json(R"({"words":"0","rerank":1})"), HasSubstr("true or false"));
  EXPECT_THAT(Sentence(400, Post("application/json", R"({"words":"0"})", {{"words", "1"}})),
              HasSubstr("twice"));
  EXPECT_THAT(Sentence(400, Post("image/png", "GIF89a")), HasSubstr("not a picture"));
  EXPECT_THAT(Sentence(400, Post("image/png", std::string(kPngMagic))), HasSubstr("no content"));
  EXPECT_THAT(Sentence(400, Post("image/png", PictureOfCode(0), {{"words", "0"}})),
              HasSubstr("more than one"));
  Sentence(415, Post("text/plain", "0"));
  Sentence(415, Post("", PictureOfCode(0)));
  Sentence(413, Post("image/png", std::string((16u << 20) + 1, 'x')));
  Sentence(413, Post("application/json", std::string((1u << 20) + 1, ' ')));
}

TEST_F(ApiTest, Items) {
  const Json item = Json::parse(Get("/api/items/13").body);
  EXPECT_EQ(item.at("name"), "s/13");
  EXPECT_EQ(item.at("picture"), "");
  EXPECT_FALSE(item.contains("distance"));
  EXPECT_EQ(Json::parse(Get("/api/items/4611686018427387904").body).at("facts"), Json::object());
  for (const char* id : {"14", "-1", "x", "13x", "99999999999999999999"}) {
    Sentence(404, Get(std::string("/api/items/") + id));
  }
  Sentence(404, Get("/api/items/"));
  Sentence(404, Get("/api/items/13/x"));
}

TEST_F(ApiTest, PicturesAreServedByContentFromTheirSourcesOnly) {
  const auto response = Get("/api/pictures/10");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.type, "image/png");
  EXPECT_EQ(response.body, PictureOfCode(5));
  EXPECT_EQ(response.headers.at("Cache-Control"), "private, max-age=300");
  Sentence(404, Get("/api/pictures/11"));  // ../secret.png
  Sentence(404, Get("/api/pictures/12"));  // note.txt
  Sentence(404, Get("/api/pictures/13"));  // names none
}

TEST_F(ApiTest, Info) {
  const Json info = Json::parse(Get("/api/info").body);
  EXPECT_EQ(info.at("name"), "five");
  EXPECT_EQ(info.at("items"), 5);
  EXPECT_EQ(info.at("bits"), 16);
  EXPECT_EQ(info.at("columns"), Json::parse(R"([{"name":"image","items":4,"index":"flat"},
                                                {"name":"text","items":4,"index":"flat"}])"));
  EXPECT_EQ(info.at("silos").at(0), Json::parse(R"({"name":"north","items":2})"));
  EXPECT_EQ(info.at("asks"), Json::parse(R"({"words":true,"pictures":true})"));
  EXPECT_EQ(info.at("rerank"), "relaxed");
  EXPECT_EQ(info.at("limits"), Json::parse(R"({"hits":1000,"characters":1000,"bytes":16777216})"));
}

TEST_F(ApiTest, MethodsAndPaths) {
  EXPECT_EQ(Make().Handle({.method = "HEAD", .path = "/api/info"}).status, 200);
  const auto refused = Make().Handle({.method = "DELETE", .path = "/api/search"});
  Sentence(405, refused);
  EXPECT_EQ(refused.headers.at("Allow"), "GET, HEAD, POST");
  Sentence(405, Make().Handle({.method = "POST", .path = "/"}));
  Sentence(405, Make().Handle({.method = "GE", .path = "/api/info"}));
  Sentence(404, Get("/api"));
  Sentence(404, Get("/api/search/"));
  Sentence(404, Get("/../etc/passwd"));
  Sentence(404, Get(""));
  Sentence(400, Make().Handle({.method = "GET", .path = "/api/info", .body = "x"}));
}

TEST_F(ApiTest, EveryAnswerHasTheHeaders) {
  for (const char* path : {"/", "/healthz", "/api/info", "/api/pictures/10", "/nothing"}) {
    const auto headers = Get(path).headers;
    EXPECT_EQ(headers.at("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_EQ(headers.at("Referrer-Policy"), "no-referrer") << path;
    EXPECT_THAT(headers.at("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(headers.at("Cross-Origin-Resource-Policy"), "same-origin") << path;
    EXPECT_TRUE(headers.contains("Cache-Control")) << path;
  }
  EXPECT_EQ(Get("/api/info").headers.at("Cache-Control"), "no-store");
}

TEST_F(ApiTest, TheTokenOpensAllButThePage) {
  const Api api = Make("open sesame");
  const auto status = [&](const std::string& path, const std::string& token) {
    return api.Handle({.method = "GET", .path = path, .token = token}).status;
  };
  for (const PageFile& file : PageFiles()) EXPECT_EQ(status(std::string(file.path), ""), 200);
  EXPECT_EQ(status("/healthz", ""), 200);
  for (const char* path : {"/api/info", "/api/pictures/10", "/api/items/10", "/nothing"}) {
    for (const char* token : {"", "open", "open sesam", "open sesame ", "Open sesame"}) {
      EXPECT_EQ(status(path, token), 401) << path << token;
    }
  }
  EXPECT_EQ(status("/api/info", "open sesame"), 200);
  // A browser that kept it would show it without the token.
  EXPECT_EQ(api.Handle({.method = "GET", .path = "/api/pictures/10", .token = "open sesame"})
                .headers.at("Cache-Control"),
            "no-store");
  EXPECT_EQ(api.Handle({.method = "GET", .path = "/api/info"}).headers.at("WWW-Authenticate"),
            "Bearer");
}

TEST_F(ApiTest, TheInsideStaysInside) {
  const auto response = Get("/api/search", {{"words", "inside"}});
  EXPECT_EQ(Sentence(500, response).find("/inside"), std::string::npos);
  EXPECT_EQ(log_, "\"/api/search\": /inside/model is broken");
}

TEST_F(ApiTest, WithoutACollectionItSaysSo) {
  site_ = nullptr;
  Sentence(503, Get("/healthz"));
  Sentence(503, Get("/api/search", {{"words", "0"}}));
  EXPECT_EQ(Get("/").status, 200);
}

TEST_F(ApiTest, ThePageIsCompiledIn) {
  for (const PageFile& file : PageFiles()) EXPECT_FALSE(file.content.empty()) << file.path;
  for (const char* path : {"/", "/page.css", "/page.js", "/openapi.json"}) {
    EXPECT_NE(FindPageFile(path), nullptr) << path;
  }
  EXPECT_EQ(Get("/").type, "text/html; charset=utf-8");
  EXPECT_EQ(Get("/", {{"words", "shared address"}}).status, 200);
  EXPECT_EQ(FindPageFile("/page"), nullptr);
}

}  // namespace
}  // namespace crossilo

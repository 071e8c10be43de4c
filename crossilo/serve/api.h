#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "crossilo/serve/searcher.h"

namespace crossilo {

// A request as it came over the wire, decoded but not believed.
struct ApiRequest {
  std::string method;                             // "GET", "HEAD", "POST"
  std::string path;                               // decoded: "/api/search"
  std::multimap<std::string, std::string> query;  // decoded
  std::string type;                               // Content-Type
  std::string token;                              // of "Authorization: Bearer ..."
  std::string body;
};

struct ApiResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;  // of a HEAD request too: whoever sends it leaves it away
  std::map<std::string, std::string> headers = {};
};

struct ApiLimits {
  int64_t most_hits = 1000;       // k and offset + k
  size_t most_words = 1000;       // characters of a query
  size_t most_bytes = 16u << 20;  // of a body
  size_t most_json = 1u << 20;    // of a body of JSON
};

// {"error": sentence} with the headers that every response has.
ApiResponse ErrorResponse(int status, std::string_view sentence);

// Everything the server answers, without a socket.  Never throws: what goes
// wrong is a 4xx or 5xx response with {"error": "a sentence"}.  Safe to call
// from many threads.
class Api {
 public:
  // `site` gives the generation that serves now; it may change between calls,
  // and be null while there is none.  An empty token lets everyone in.  `warn`
  // is told what went wrong inside, which the answer is silent about.
  Api(std::function<std::shared_ptr<Site>()> site, const std::string& token, ApiLimits limits = {},
      std::function<void(const std::string&)> warn = nullptr);

  ApiResponse Handle(const ApiRequest& request) const;

  // The answer where the request is refused whatever its body is: path, method,
  // token, type.  For whoever would have to fetch the body first.
  std::optional<ApiResponse> Refusal(const ApiRequest& request) const;

 private:
  ApiResponse Answer(const ApiRequest& request) const;
  ApiResponse Failure(const ApiRequest& request, const char* what) const;
  bool LetsIn(const ApiRequest& request) const;

  std::function<std::shared_ptr<Site>()> site_;
  std::string token_digest_;  // "" where there is no token
  ApiLimits limits_;
  std::function<void(const std::string&)> warn_;
};

// What the server knows by path; `{id}` stands for an item's id.  The page's
// own files besides.  openapi.json is compared with it.
struct Route {
  std::string_view path;
  std::string_view methods;  // as Allow lists them
  bool open = false;         // without a token
};
std::span<const Route> Routes();

}  // namespace crossilo

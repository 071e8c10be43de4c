#include "crossilo/serve/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "crossilo/base/digest.h"
#include "crossilo/base/file.h"
#include "crossilo/serve/page.h"
#include "crossilo/serve/parameters.h"
#include "crossilo/serve/pictures.h"
#include "crossilo/serve/replies.h"
#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

constexpr Route kRoutes[] = {
    {"/healthz", "GET, HEAD", true},     {"/api/info", "GET, HEAD"},
    {"/api/search", "GET, HEAD, POST"},  {"/api/items/{id}", "GET, HEAD"},
    {"/api/pictures/{id}", "GET, HEAD"},
};

// A larger file is no picture that a page should show.
constexpr uintmax_t kLargestPicture = 64u << 20;

constexpr std::string_view kPolicy =
    "default-src 'self'; img-src 'self' blob: data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'";

// Whether a path is the route's, and then what stands for {id}.
bool Matches(std::string_view route, std::string_view path, std::string_view& id) {
  const size_t brace = route.find('{');
  if (brace == std::string_view::npos) return path == route;
  if (!path.starts_with(route.substr(0, brace))) return false;
  id = path.substr(brace);
  return !id.empty() && id.find('/') == std::string_view::npos;
}

const Route* FindRoute(std::string_view path, std::string_view& id) {
  const auto found =
      std::ranges::find_if(kRoutes, [&](const Route& r) { return Matches(r.path, path, id); });
  return found == std::end(kRoutes) ? nullptr : found;
}

bool Allows(std::string_view methods, std::string_view method) {
  for (size_t at = 0; at < methods.size(); at += 2) {
    const size_t end = std::min(methods.find(',', at), methods.size());
    if (methods.substr(at, end - at) == method) return true;
    at = end;
  }
  return false;
}

ApiResponse WithHeaders(ApiResponse response) {
  response.headers.emplace("X-Content-Type-Options", "nosniff");
  response.headers.emplace("Referrer-Policy", "no-referrer");
  response.headers.emplace("Content-Security-Policy", kPolicy);
  response.headers.emplace("Cache-Control", "no-store");
  // Another site's page must not learn what is here, not even by an <img>.
  response.headers.emplace("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

ApiResponse Json(std::string body) { return {.body = std::move(body)}; }

ApiResponse PageResponse(const PageFile& file) {
  // Asked for again each time, so that a new version of the program shows.
  return {.type = std::string(file.type),
          .body = std::string(file.content),
          .headers = {{"Cache-Control", "no-cache"}}};
}

ApiResponse NotAllowed(std::string_view methods) {
  ApiResponse response = ErrorResponse(405, fmt::format("this address answers {} only", methods));
  response.headers["Allow"] = methods;
  return response;
}

ApiResponse PictureResponse(const Site& site, const Item& item) {
  const auto path = site.PictureOf(item);
  std::error_code error;
  if (path.empty() || std::filesystem::file_size(path, error) > kLargestPicture || error) {
    return ErrorResponse(404, "this item has no picture");
  }
  std::string bytes = ReadFile(path);
  const auto type = PictureType(bytes);
  if (type.empty()) return ErrorResponse(404, "this item has no picture");
  return {.type = std::string(type), .body = std::move(bytes)};
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

ApiResponse ErrorResponse(int status, std::string_view sentence) {
  std::string body = R"({"error":)";
  AppendJson(body, sentence);
  body += '}';
  return WithHeaders({.status = status, .body = std::move(body)});
}

Api::Api(std::function<std::shared_ptr<Site>()> site, const std::string& token, ApiLimits limits,
         std::function<void(const std::string&)> warn)
    : site_(std::move(site)),
      token_digest_(token.empty() ? "" : Sha256(token)),
      limits_(limits),
      warn_(std::move(warn)) {}

// Digests have one length, and all of it is compared: the time says nothing
// about the token.
bool Api::LetsIn(const ApiRequest& request) const {
  if (token_digest_.empty()) return true;
  const std::string given = Sha256(request.token);
  unsigned differ = 0;
  for (size_t i = 0; i < given.size(); ++i) differ |= given[i] ^ token_digest_[i];
  return differ == 0;
}

std::optional<ApiResponse> Api::Refusal(const ApiRequest& request) const {
  if (FindPageFile(request.path) != nullptr) {
    if (!Allows("GET, HEAD", request.method)) return NotAllowed("GET, HEAD");
    return std::nullopt;
  }
  std::string_view id;
  const Route* route = FindRoute(request.path, id);
  if ((route == nullptr || !route->open) && !LetsIn(request)) {
    auto response = ErrorResponse(401,
                                  "this server asks for a token; send it as "
                                  "'Authorization: Bearer TOKEN'");
    response.headers["WWW-Authenticate"] = "Bearer";
    return response;
  }
  if (route == nullptr) return ErrorResponse(404, "there is nothing at this address");
  if (!Allows(route->methods, request.method)) return NotAllowed(route->methods);
  const std::string media_type = MediaType(request.type);
  if (request.method == "POST" && !media_type.empty() && media_type != "application/json" &&
      !IsPictureBody(media_type)) {
    return ErrorResponse(415,
                         "send a picture as image/png, image/jpeg or image/webp, or "
                         "application/json");
  }
  return std::nullopt;
}

ApiResponse Api::Answer(const ApiRequest& request) const {
  if (auto refusal = Refusal(request)) return *refusal;
  if (const PageFile* file = FindPageFile(request.path)) return PageResponse(*file);
  if (request.method != "POST" && !request.body.empty()) {
    return ErrorResponse(400, "only POST has a body");
  }
  const bool json = MediaType(request.type) == "application/json";
  const size_t most = json ? limits_.most_json : limits_.most_bytes;
  if (request.body.size() > most) {
    return ErrorResponse(
        413, fmt::format("the body has {} bytes; at most {} are read", request.body.size(), most));
  }
  const std::shared_ptr<Site> site = site_();
  if (!site) return ErrorResponse(503, "the collection cannot be searched now; try again later");
  if (request.path == "/api/search") {
    if (request.method == "POST" && !request.body.empty() && request.type.empty()) {
      return ErrorResponse(415, "say what the body is with Content-Type");
    }
    const SearchRequest search = ReadSearch(request, limits_);
    return Json(SearchJson(search, site->Search(search)));
  }
  RefuseParameters(request);
  if (request.path == "/healthz") return Json(HealthJson(*site));
  if (request.path == "/api/info") return Json(InfoJson(*site, limits_));
  std::string_view id;
  FindRoute(request.path, id);
  const int64_t number = ReadId(id);
  const auto item = number < 0 ? std::nullopt : site->store().Find(number);
  if (!item) return ErrorResponse(404, "there is no such item");
  if (request.path.starts_with("/api/items/")) return Json(ItemJson(*item));
  ApiResponse picture = PictureResponse(*site, *item);
  // A browser would show what it kept to whoever comes without a token.
  if (token_digest_.empty()) picture.headers["Cache-Control"] = "private, max-age=300";
  return picture;
}

ApiResponse Api::Handle(const ApiRequest& request) const {
  try {
    return WithHeaders(Answer(request));
  } catch (const BadQuestion& error) {
    return ErrorResponse(400, error.what());
  } catch (const std::exception& error) {
    return Failure(request, error.what());
  } catch (...) {
    return Failure(request, "an exception without a name");
  }
}

ApiResponse Api::Failure(const ApiRequest& request, const char* what) const {
  std::string path;
  AppendJson(path, Shortened(request.path));  // one line, whatever was asked for
  if (warn_) warn_(fmt::format("{}: {}", path, what));
  return ErrorResponse(500, "something went wrong here; the server's log says what");
}

}  // namespace crossilo

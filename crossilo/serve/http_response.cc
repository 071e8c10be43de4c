#include <fmt/chrono.h>

#include <ctime>
#include <iterator>

#include "crossilo/serve/http.h"

namespace crossilo {
namespace {

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

std::string WriteHttp(const ApiResponse& response, const HttpHead& request, bool keep_alive) {
  std::string out;
  out.reserve(768 + response.body.size());
  const auto back = std::back_inserter(out);
  fmt::format_to(back, "HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", response.status,
                 Reason(response.status), fmt::gmtime(std::time(nullptr)));
  fmt::format_to(back, "Content-Type: {}\r\nContent-Length: {}\r\n", response.type,
                 response.body.size());
  if (!keep_alive) out += "Connection: close\r\n";
  if (keep_alive && request.http_1_0) out += "Connection: keep-alive\r\n";
  for (const auto& [name, value] : response.headers) {
    out.append(name).append(": ").append(value).append("\r\n");
  }
  out += "\r\n";
  if (request.method != "HEAD") out += response.body;
  return out;
}

}  // namespace crossilo

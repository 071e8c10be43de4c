#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "crossilo/base/error.h"
#include "crossilo/serve/api.h"

// HTTP/1.1 (RFC 9110, RFC 9112) as far as a server of ours needs it, as
// functions of bytes: no sockets.  It is our own because the library at hand
// takes request lines and chunked bodies of any length, answers one Range
// header with a body many times over, lets a slow client stay for ever, and
// stops accepting at the first error.  Where the RFC lets a recipient be
// lenient, this one refuses.

namespace crossilo {

// A request that cannot be answered as it is; the connection ends with it.
struct HttpError : Error {
  template <typename... Args>
  explicit HttpError(int code, fmt::format_string<Args...> format, Args&&... args)
      : Error(format, std::forward<Args>(args)...), status(code) {}
  int status;
};

struct HttpLimits {
  size_t line = 8192;    // bytes of the request line
  size_t head = 32768;   // of line and headers together
  size_t headers = 100;  // how many
};

struct HttpHead {
  std::string method;
  std::string path;                               // decoded
  std::multimap<std::string, std::string> query;  // decoded
  std::map<std::string, std::string> headers;     // names in lower case, each once
  bool keep_alive = true;
  bool http_1_0 = false;
  bool chunked = false;
  size_t length = 0;  // of the body, unless chunked
  bool expects_continue = false;

  const std::string& Header(const std::string& name) const;  // "" where there is none
  bool has_body() const { return chunked || length > 0; }
};

// Bytes of the head that `bytes` begins with, the empty line included, or 0
// where it has not all come.  Throws HttpError where it is longer than allowed.
size_t HeadLength(std::string_view bytes, const HttpLimits& limits = {});

// Throws HttpError with 400, 414, 431, 501 or 505.
HttpHead ParseHead(std::string_view head, const HttpLimits& limits = {});

// Percent-decoded, with + as a blank where it is a query; text that is encoded
// wrongly stays as it is.
std::string Decoded(std::string_view text, bool query);

// Takes a chunked body apart, piece by piece.
class ChunkReader {
 public:
  // At most so many bytes of content.
  explicit ChunkReader(size_t most) : most_(most) {}

  // Appends the content in `bytes` to `body` and returns how many bytes it
  // used; the rest must be given again, with more behind.  Throws HttpError on
  // bytes that are no chunks (400) and on a body that is too long (413).
  size_t Read(std::string_view bytes, std::string& body);
  bool done() const { return state_ == State::kDone; }

 private:
  enum class State { kSize, kContent, kContentEnd, kTrailer, kDone };
  void ReadSize(std::string_view line);

  size_t most_;
  size_t left_ = 0;  // of this chunk
  size_t total_ = 0, trailer_ = 0;
  State state_ = State::kSize;
};

// The bytes of a response; without its content for a HEAD request.
std::string WriteHttp(const ApiResponse& response, const HttpHead& request, bool keep_alive);

}  // namespace crossilo

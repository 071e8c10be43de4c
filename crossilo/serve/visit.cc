#include "crossilo/serve/visit.h"

#include <algorithm>

#include "crossilo/serve/parameters.h"
#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

// How long a client that was refused may go on sending before it is cut off.
constexpr double kLingerSeconds = 5;

// A body's share of what all may take together.
class BodyRoom {
 public:
  BodyRoom(Gates& gates, size_t bytes) : gates_(gates), bytes_(static_cast<int64_t>(bytes)) {
    if (gates_.body_bytes.fetch_add(bytes_) + bytes_ <= gates_.most_body_bytes) return;
    gates_.body_bytes -= bytes_;
    throw HttpError(503, "many send long requests just now; try again later");
  }
  ~BodyRoom() { gates_.body_bytes -= bytes_; }
  BodyRoom(const BodyRoom&) = delete;
  BodyRoom& operator=(const BodyRoom&) = delete;

 private:
  Gates& gates_;
  const int64_t bytes_;
};

// `came` is what has been read and not yet used; requests may stand in it one
// behind the other.
class Visitor {
 public:
  Visitor(Connection& connection, const Api& api, Gates& gates, const VisitRules& rules)
      : connection_(connection), api_(api), gates_(gates), rules_(rules) {}

  bool has_bytes() const { return !came_.empty() || connection_.pending(); }

  // Whether the client may still be sending what nobody will read.
  bool refused() const { return refused_; }

  // Answers one request; whether another may follow.
  bool ServeOne() {
    HttpHead head;
    try {
      if (!ReadHead(head)) return false;
      ApiRequest request = ToApi(head);
      std::optional<ApiResponse> response = Refuse(head, request);
      refused_ = response && head.has_body();
      if (!response) {
        response = Answer(head, request);
      }
      const bool keep_alive = head.keep_alive && !refused_;
      Send(*response, head, keep_alive);
      return keep_alive;
    } catch (const HttpError& error) {
      refused_ = true;
      Send(ErrorResponse(error.status, error.what()), head, /*keep_alive=*/false);
      return false;
    }
  }

 private:
  // False at the end of the connection.
  bool ReadHead(HttpHead& head) {
    const Deadline deadline = In(rules_.head_seconds);
    size_t length = 0;
    while (true) {
      // Some end a body with a line end too many (RFC 9112, section 2.2).
      while (came_.starts_with("\r\n")) came_.erase(0, 2);
      length = HeadLength(came_, rules_.http);
      if (length > 0) break;
      if (!connection_.Read(came_, deadline)) return false;
    }
    head = ParseHead(std::string_view(came_).substr(0, length), rules_.http);
    came_.erase(0, length);
    return true;
  }

  ApiResponse Answer(const HttpHead& head, ApiRequest& request) {
    const BodyRoom room(gates_, !head.has_body() ? 0
                                : head.chunked   ? rules_.most_body
                                                 : head.length);
    ReadBody(head, request.body);
    const bool picture = IsPictureBody(MediaType(request.type));
    if (picture && gates_.pictures.waiting() >= gates_.most_waiting_pictures) {
      throw HttpError(503, "many ask with pictures just now; try again later");
    }
    // Not while bytes come or go, which may take a client as long as it likes.
    const Gate::Pass pass(picture ? gates_.pictures : gates_.others);
    if (gates_.closed) throw HttpError(503, "the server is being stopped");
    return api_.Handle(request);
  }

  static ApiRequest ToApi(HttpHead& head) {
    ApiRequest out = {.method = head.method,
                      .path = std::move(head.path),
                      .query = std::move(head.query),
                      .type = head.Header("content-type")};
    const std::string_view bearer = "bearer ", given = head.Header("authorization");
    // The scheme's case does not count (RFC 9110, section 11.1).
    if (Lower(given.substr(0, bearer.size())) == bearer) {
      out.token = given.substr(bearer.size());
    }
    return out;
  }

  // Refused before the body is read, which may be long.
  std::optional<ApiResponse> Refuse(const HttpHead& head, const ApiRequest& request) const {
    if (rules_.known_host && !rules_.known_host(head.Header("host"))) {
      return ErrorResponse(421, "this server is asked under a name that is not its own");
    }
    if (head.length > rules_.most_body) {
      return ErrorResponse(413, fmt::format("the body has {} bytes; at most {} are read",
                                            head.length, rules_.most_body));
    }
    return api_.Refusal(request);
  }

  void ReadBody(const HttpHead& head, std::string& body) {
    if (!head.has_body()) return;
    const Deadline deadline = In(rules_.body_seconds);
    if (head.expects_continue && came_.empty()) {
      connection_.Write("HTTP/1.1 100 Continue\r\n\r\n", deadline);
    }
    if (head.chunked) {
      ChunkReader chunks(rules_.most_body);
      while (true) {
        came_.erase(0, chunks.Read(came_, body));
        if (chunks.done()) return;
        if (!connection_.Read(came_, deadline)) throw ConnectionLost();
      }
    }
    body.reserve(head.length + (size_t{1} << 16));  // and not double it again and again
    body.assign(came_, 0, head.length);
    came_.erase(0, body.size());
    while (body.size() < head.length) {
      if (!connection_.Read(body, deadline)) throw ConnectionLost();
    }
    came_.append(body, head.length);  // the next request's
    body.resize(head.length);
  }

  void Send(const ApiResponse& response, const HttpHead& head, bool keep_alive) {
    connection_.Write(WriteHttp(response, head, keep_alive), In(rules_.write_seconds));
  }

  Connection& connection_;
  const Api& api_;
  Gates& gates_;
  const VisitRules& rules_;
  std::string came_;
  bool refused_ = false;
};

}  // namespace

void Visit(Connection& connection, const Api& api, Gates& gates, const VisitRules& rules,
           const std::function<bool(bool)>& wait) {
  try {
    connection.Begin(In(rules.head_seconds));
    Visitor visitor(connection, api, gates, rules);
    while (wait(visitor.has_bytes()) && visitor.ServeOne()) {
    }
    connection.Finish(In(visitor.refused() ? kLingerSeconds : 0));
  } catch (const ConnectionLost&) {
    // Nobody is left to tell.
  }
}

}  // namespace crossilo

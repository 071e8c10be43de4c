#pragma once

#include <atomic>
#include <functional>

#include "crossilo/serve/api.h"
#include "crossilo/serve/connection.h"
#include "crossilo/serve/gate.h"
#include "crossilo/serve/http.h"

namespace crossilo {

// What a server lets one client do.
struct VisitRules {
  HttpLimits http;
  size_t most_body = 16u << 20;
  double head_seconds = 10;   // for a request's line and headers, from its first byte
  double body_seconds = 60;   // for its body
  double write_seconds = 60;  // for the client to take the answer
  // Whether a Host header may be ours; see ServerOptions.
  std::function<bool(const std::string& host)> known_host;
};

// What all clients share.
struct Gates {
  // How many requests are worked on at the same time.  One with a picture takes
  // hundreds of megabytes and a core for a while, and must not hold up words.
  Gate pictures{2};
  Gate others;
  size_t most_waiting_pictures = 32;
  // Of the bodies that are being read or wait.
  int64_t most_body_bytes = int64_t{1} << 30;
  std::atomic<int64_t> body_bytes = 0;
  std::atomic<bool> closed = false;  // what waits is refused
};

// Serves the requests of one connection, one after the other, until the client
// ends it or breaks a rule; ends it gently then.  `wait` is called before each
// request, told whether bytes of it are there already, and returns false where
// none is to be served.  A request that has come goes through its gate.
void Visit(Connection& connection, const Api& api, Gates& gates, const VisitRules& rules,
           const std::function<bool(bool here)>& wait);

}  // namespace crossilo

#pragma once

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

// Serves the requests of one connection, one after the other, until the client
// ends it or breaks a rule; ends it gently then.  `wait` is called before each
// request, told whether bytes of it are there already, and returns false where
// none is to be served.  A request that has come goes through the gate.
void Visit(Connection& connection, const Api& api, Gate& gate, const VisitRules& rules,
           const std::function<bool(bool here)>& wait);

}  // namespace crossilo

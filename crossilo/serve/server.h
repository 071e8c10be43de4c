#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "crossilo/serve/api.h"

namespace crossilo {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any that is free
  // PEM files; both or none.
  std::string certificate, key;
  std::string token;  // asked of every request but the page's own files; "": nobody is asked
  // Served at the same time, a thread each; more wait.
  int connections = 512;
  double refresh_seconds = 1;  // how often changes of the collection are looked for
  // The number of the generation that `open` would open now; empty: always the
  // one that was opened first.
  std::function<int()> current;
  // A request's line and headers must come within this, its body and the
  // taking of the answer within six times this.
  double slow_seconds = 10;
  double idle_seconds = 30;  // a connection without a request ends after
  ApiLimits limits;
};

// Whether only this machine can reach it: 127.0.0.0/8, ::1, localhost.
bool IsLoopback(const std::string& host);

// Throws Error unless the host is this machine only, or there are a
// certificate and a token; and where one of certificate and key is missing.
void CheckExposure(const ServerOptions& options);

// Serves until `stop` becomes true, then lets requests under way end.  Calls
// `ready` with the page's address once it listens.  Looks for new items and for
// a new generation (through `open`) all the while; where a new generation does
// not open, the old one goes on serving and `warn` is told why, once; `warn` is
// called from many threads.  Without a token a request must name this machine
// as its Host: a page of a stranger's, whose name was made to mean 127.0.0.1,
// does not.  Throws Error where it is too exposed, cannot listen, or the
// collection does not open.
void Serve(const OpenSite& open, const ServerOptions& options,
           const std::function<void(const std::string& address)>& ready,
           const std::function<void(const std::string& message)>& warn,
           const std::atomic<bool>& stop);

}  // namespace crossilo

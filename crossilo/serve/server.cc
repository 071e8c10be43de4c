#include "crossilo/serve/server.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "crossilo/base/parallel.h"
#include "crossilo/serve/connection.h"
#include "crossilo/serve/crowd.h"
#include "crossilo/serve/listen.h"
#include "crossilo/serve/refresher.h"
#include "crossilo/serve/visit.h"

namespace crossilo {
namespace {

// Two blocks of questions that are coded together (cli/query_coder.h), or all
// cores twice over.
int AtOnce() { return std::max(32, 2 * Workers(0)); }

// As many as there are descriptors for, besides those of files and libraries:
// at the limit idle clients give way to new ones (Crowd), without a descriptor
// nobody would.
int Connections(const ServerOptions& options) {
  constexpr rlim_t kOthers = 64;
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
    return options.connections;
  }
  const rlim_t most = files.rlim_cur > 2 * kOthers ? files.rlim_cur - kOthers : files.rlim_cur / 2;
  return static_cast<int>(std::min<rlim_t>(most, static_cast<rlim_t>(options.connections)));
}

// How soon `stop` is seen.
constexpr int kLookMilliseconds = 50;

VisitRules RulesOf(const ServerOptions& options) {
  VisitRules rules = {.most_body = options.limits.most_bytes,
                      .head_seconds = options.slow_seconds,
                      .body_seconds = 6 * options.slow_seconds,
                      .write_seconds = 6 * options.slow_seconds};
  if (options.token.empty()) {
    rules.known_host = [](const std::string& host) {
      return host.empty() || (host.find('@') == std::string::npos && IsLoopback(host));
    };
  }
  return rules;
}

std::string AddressOf(const ServerOptions& options, int port) {
  const std::string name = HostName(options.host);
  const bool six = name.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}/", options.certificate.empty() ? "http" : "https",
                     six ? "[" : "", name, six ? "]" : "", port);
}

// One client's stay.
class Host {
 public:
  Host(const Api& api, const ServerOptions& options,
       const std::function<void(const std::string&)>& warn)
      : api_(api),
        warn_(warn),
        gates_{.others = Gate(AtOnce())},
        rules_(RulesOf(options)),
        idle_seconds_(options.idle_seconds),
        crowd_(Connections(options), [this](int socket) { Serve(socket); }) {
    if (!options.certificate.empty()) tls_.emplace(options.certificate, options.key);
  }

  Crowd& crowd() { return crowd_; }
  void Stop() {
    gates_.closed = true;
    crowd_.Stop();
  }

 private:
  // Out of memory or not, one client's trouble must not be all others'.
  void Serve(int socket) {
    try {
      ServeOrThrow(socket);
    } catch (const std::exception& error) {
      if (warn_) warn_(fmt::format("a client was given up: {}", error.what()));
    }
  }

  std::unique_ptr<Connection> Connect(int socket) const {
    try {
      return tls_ ? tls_->Connect(socket) : PlainConnection(socket);
    } catch (...) {
      close(socket);
      throw;
    }
  }

  void ServeOrThrow(int socket) {
    const auto connection = Connect(socket);
    Crowd::Guest guest(crowd_, socket);
    guest.Idle();  // until it has said anything
    Visit(*connection, api_, gates_, rules_, [&](bool here) {
      if (!here && !(guest.Idle() && WaitFor(socket, false, In(idle_seconds_)))) return false;
      return guest.Busy();
    });
  }

  const Api& api_;
  const std::function<void(const std::string&)>& warn_;
  Gates gates_;
  const VisitRules rules_;
  const double idle_seconds_;
  std::optional<Tls> tls_;
  Crowd crowd_;  // last: its threads use the rest
};

}  // namespace

void CheckExposure(const ServerOptions& options) {
  if (options.certificate.empty() != options.key.empty()) {
    throw Error("a certificate needs its key and a key its certificate; give both or none");
  }
  if (IsLoopback(options.host)) return;
  if (options.certificate.empty() || options.token.empty()) {
    throw Error(
        "host {} can be reached from other machines; give a certificate with its key, and a "
        "token, or serve on 127.0.0.1",
        options.host);
  }
}

void Serve(const OpenSite& open, const ServerOptions& options,
           const std::function<void(const std::string&)>& ready,
           const std::function<void(const std::string&)>& warn, const std::atomic<bool>& stop) {
  CheckExposure(options);
  Refresher refresher(open, options.current, options.refresh_seconds, warn);
  const Api api([&] { return refresher.site(); }, options.token, options.limits, warn);
  Host host(api, options, warn);
  {
    const Listener listener(options.host, options.port);
    if (ready) ready(AddressOf(options, listener.port()));
    while (!stop) {
      if (!host.crowd().WaitForRoom(std::chrono::milliseconds(kLookMilliseconds))) continue;
      const int client = listener.Accept(kLookMilliseconds);
      if (client >= 0) host.crowd().Add(client);
    }
  }
  host.Stop();
}

}  // namespace crossilo

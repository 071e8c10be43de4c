#include "crossilo/serve/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "crossilo/base/parallel.h"
#include "crossilo/serve/connection.h"
#include "crossilo/serve/crowd.h"
#include "crossilo/serve/gate.h"
#include "crossilo/serve/listen.h"
#include "crossilo/serve/refresher.h"
#include "crossilo/serve/visit.h"

namespace crossilo {
namespace {

// Requests that are worked on at the same time: two blocks of questions that
// are coded together (cli/query_coder.h), or all cores twice over.
int AtOnce() { return std::max(32, 2 * Workers(0)); }

// How soon `stop` is seen.
constexpr int kLookMilliseconds = 50;

VisitRules RulesOf(const ServerOptions& options) {
  VisitRules rules = {.most_body = options.limits.most_bytes,
                      .head_seconds = options.slow_seconds,
                      .body_seconds = 6 * options.slow_seconds,
                      .write_seconds = 6 * options.slow_seconds};
  if (options.token.empty()) {
    rules.known_host = [](const std::string& host) { return host.empty() || IsLoopback(host); };
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
  Host(const Api& api, const ServerOptions& options)
      : api_(api),
        gate_(AtOnce()),
        rules_(RulesOf(options)),
        idle_seconds_(options.idle_seconds),
        crowd_(options.connections, [this](int socket) { Serve(socket); }) {
    if (!options.certificate.empty()) tls_.emplace(options.certificate, options.key);
  }

  Crowd& crowd() { return crowd_; }

 private:
  void Serve(int socket) {
    const auto connection = tls_ ? tls_->Connect(socket) : PlainConnection(socket);
    Crowd::Guest guest(crowd_, socket);
    Visit(*connection, api_, gate_, rules_, [&](bool here) {
      if (!here && !(guest.Idle() && WaitFor(socket, false, In(idle_seconds_)))) return false;
      return guest.Busy();
    });
  }

  const Api& api_;
  Gate gate_;
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
  Host host(api, options);
  {
    const Listener listener(options.host, options.port);
    if (ready) ready(AddressOf(options, listener.port()));
    while (!stop) {
      if (!host.crowd().WaitForRoom(std::chrono::milliseconds(kLookMilliseconds))) continue;
      const int client = listener.Accept(kLookMilliseconds);
      if (client >= 0) host.crowd().Add(client);
    }
  }
  host.crowd().Stop();
}

}  // namespace crossilo

#include "crossilo/serve/listen.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "crossilo/base/error.h"
#include "crossilo/serve/server.h"

namespace crossilo {
namespace {

// Clients that have not been accepted yet; the system may allow fewer.
constexpr int kBacklog = 1024;

int Bound(const addrinfo& address) {
  const int listening = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listening < 0) return -1;
  // A server that was stopped just now may be started again on its port.
  const int yes = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(listening, address.ai_addr, address.ai_addrlen) == 0 &&
      listen(listening, kBacklog) == 0) {
    return listening;
  }
  const int reason = errno;
  close(listening);
  errno = reason;
  return -1;
}

}  // namespace

Listener::Listener(const std::string& host, int port) {
  if (port < 0 || port > 65535) throw Error("port {}; give one from 0 to 65535", port);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string name = HostName(host);
  const int failure = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0)
    throw Error("host '{}': {}; give an address of this machine", host, gai_strerror(failure));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr && socket_ < 0; a = a->ai_next) {
    socket_ = Bound(*a);
  }
  if (socket_ < 0) {
    throw Error("cannot listen on {} port {}: {}; choose another port", host, port,
                SystemMessage());
  }
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &size);
  port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

Listener::~Listener() { close(socket_); }

int Listener::Accept(int milliseconds) const {
  int client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) {
    // Out of descriptors, waiting for a client would return at once.
    const bool full = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
    pollfd wait = {socket_, POLLIN, 0};
    poll(&wait, full ? 0 : 1, milliseconds);
    return -1;
  }
  const int yes = 1;  // an answer is one write: waiting for more only delays it
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return client;
}

std::string HostName(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  if (std::ranges::count(host, ':') > 1) return host;  // IPv6 without brackets
  return host.substr(0, host.find(':'));
}

bool IsLoopback(const std::string& host) {
  const std::string name = HostName(host);
  if (strcasecmp(name.c_str(), "localhost") == 0) return true;
  in_addr four;
  if (inet_pton(AF_INET, name.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six;
  return inet_pton(AF_INET6, name.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace crossilo

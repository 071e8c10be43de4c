#pragma once

#include <string>

namespace crossilo {

// A socket that listens, closed at its end.
class Listener {
 public:
  // Port 0 takes one that is free.  Throws Error naming host and port.
  Listener(const std::string& host, int port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }

  // The socket of the next client, or -1 where none came in that time or the
  // system has no room for one just now.
  int Accept(int milliseconds) const;

 private:
  int socket_ = -1;
  int port_ = 0;
};

// The host of a Host header or an address: without port and brackets.
std::string HostName(const std::string& host);

}  // namespace crossilo

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace crossilo {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline In(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

// The other end is gone, silent for too long, or not speaking TLS: nobody is
// left to tell.
struct ConnectionLost {};

// Bytes to and from one client, with a deadline on everything.  For one thread.
class Connection {
 public:
  virtual ~Connection() = default;

  // What is said before the first byte.  Throws ConnectionLost where the two do
  // not agree.
  virtual void Begin(Deadline) {}
  // Appends what has come, at least a byte; false at the end of it.  Throws
  // ConnectionLost.
  virtual bool Read(std::string& out, Deadline deadline) = 0;
  // All of it.  Throws ConnectionLost.
  virtual void Write(std::string_view bytes, Deadline deadline) = 0;
  // Whether bytes have come that Read would return without waiting.
  virtual bool pending() const { return false; }
  // Says that nothing more will be written, and lets the other end read what
  // was: a plain close would take the last answer away from a client that is
  // still sending.
  virtual void Finish(Deadline deadline) = 0;
};

// Over a connected socket, which it makes non-blocking and closes at its end.
std::unique_ptr<Connection> PlainConnection(int socket);

// Waits until the socket can be read (or written) or the other end is gone;
// false at the deadline.
bool WaitFor(int socket, bool write, Deadline deadline);

// A certificate and its key, for all connections of a server.
class Tls {
 public:
  // PEM files.  Throws Error where they cannot be read or do not fit.
  Tls(const std::string& certificate, const std::string& key);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // TLS 1.2 or newer over a connected socket, which is the connection's as it is
  // PlainConnection's.
  std::unique_ptr<Connection> Connect(int socket) const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace crossilo

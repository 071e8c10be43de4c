#include "crossilo/serve/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace crossilo {
namespace {

constexpr size_t kPiece = 16384;
// What a client may still send while it is being refused.
constexpr size_t kMostDrained = 64u << 20;

class Plain : public Connection {
 public:
  explicit Plain(int socket) : socket_(socket) {
    fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
  }
  ~Plain() override { close(socket_); }

  bool Read(std::string& out, Deadline deadline) override {
    const size_t before = out.size();
    out.resize(before + kPiece);
    while (true) {
      const ssize_t got = recv(socket_, out.data() + before, kPiece, 0);
      if (got >= 0) {
        out.resize(before + got);
        return got > 0;
      }
      if (!Again() || !WaitFor(socket_, /*write=*/false, deadline)) {
        out.resize(before);
        throw ConnectionLost();
      }
    }
  }

  void Write(std::string_view bytes, Deadline deadline) override {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(sent);
      } else if (!Again() || !WaitFor(socket_, /*write=*/true, deadline)) {
        throw ConnectionLost();
      }
    }
  }

  void Finish(Deadline deadline) override {
    shutdown(socket_, SHUT_WR);
    std::string drained;
    for (size_t total = 0; total < kMostDrained; total += drained.size()) {
      drained.clear();
      if (!Read(drained, deadline)) return;
    }
  }

 private:
  static bool Again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  int socket_;
};

}  // namespace

bool WaitFor(int socket, bool write, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait = {socket, static_cast<short>(write ? POLLOUT : POLLIN), 0};
    const auto timeout = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
    const int ready = poll(&wait, 1, timeout);
    if (ready != 0 && !(ready < 0 && errno == EINTR)) return ready > 0;
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

std::unique_ptr<Connection> PlainConnection(int socket) { return std::make_unique<Plain>(socket); }

}  // namespace crossilo

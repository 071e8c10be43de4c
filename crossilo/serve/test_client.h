#pragma once

// A client for tests: bytes to a server of this process and back.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include "crossilo/serve/server.h"

namespace crossilo {

// A server on a thread of its own, from construction to destruction.
class TestServer {
 public:
  explicit TestServer(const OpenSite& open, ServerOptions options = {}) {
    options.port = 0;
    std::promise<std::string> ready;
    auto address = ready.get_future();
    thread_ = std::thread([this, open, options, ready = std::move(ready)]() mutable {
      try {
        Serve(
            open, options, [&](const std::string& at) { ready.set_value(at); },
            [this](const std::string& message) { Warn(message); }, stop_);
      } catch (...) {
        ready.set_exception(std::current_exception());
      }
    });
    try {
      address_ = address.get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }
  ~TestServer() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  const std::string& address() const { return address_; }
  int port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }
  std::string warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

 private:
  void Warn(const std::string& message) {
    const std::lock_guard lock(mutex_);
    warnings_ += message + "\n";
  }

  std::atomic<bool> stop_ = false;
  std::string address_, warnings_;
  mutable std::mutex mutex_;
  std::thread thread_;
};

struct Answer {
  int status = 0;  // 0: none came
  std::string head, body;
};

class TestClient {
 public:
  explicit TestClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    // A test that hangs says less than one that fails.
    const timeval patience = {.tv_sec = 20};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  }
  ~TestClient() { close(socket_); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return connected_; }
  int socket() const { return socket_; }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(sent);
    }
    return true;
  }

  // The next answer, by its Content-Length.
  Answer Receive(bool head_only = false) {
    size_t end = 0;
    while ((end = came_.find("\r\n\r\n")) == std::string::npos) {
      if (!More()) return {};
    }
    Answer out = {.head = came_.substr(0, end + 4)};
    came_.erase(0, end + 4);
    out.status = std::stoi(out.head.substr(9, 3));
    const size_t length = out.head.find("Content-Length: ");
    const size_t size =
        head_only || length == std::string::npos ? 0 : std::stoul(out.head.substr(length + 16));
    while (came_.size() < size) {
      if (!More()) return {};
    }
    out.body = came_.substr(0, size);
    came_.erase(0, size);
    return out;
  }

  Answer Get(const std::string& target, const std::string& headers = "") {
    Send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, headers));
    return Receive();
  }
  Answer Post(const std::string& target, const std::string& type, const std::string& body) {
    Send(
        fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\n"
                    "Content-Length: {}\r\n\r\n",
                    target, type, body.size()));
    Send(body);
    return Receive();
  }

  // Whether the server has ended the connection, and nothing came before.
  bool Ended() { return came_.empty() && !More() && came_.empty(); }

 private:
  bool More() {
    char piece[65536];
    const ssize_t got = recv(socket_, piece, sizeof(piece), 0);
    if (got > 0) came_.append(piece, got);
    return got > 0;
  }

  int socket_;
  bool connected_ = false;
  std::string came_;
};

}  // namespace crossilo

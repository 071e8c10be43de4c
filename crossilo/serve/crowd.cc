#include "crossilo/serve/crowd.h"

#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>

namespace crossilo {
namespace {

// A client between two requests is no idler.
constexpr std::chrono::seconds kIdler(1);
// For answers under way when all ends.
constexpr std::chrono::seconds kPatience(5);

}  // namespace

Crowd::Crowd(int most, std::function<void(int)> serve)
    : most_(static_cast<size_t>(std::max(most, 1))), serve_(std::move(serve)) {}

Crowd::~Crowd() {
  Stop();
  {
    std::unique_lock lock(mutex_);
    if (!left_.wait_for(lock, kPatience, [&] { return here_ == 0; })) {
      for (const Guest* guest : guests_) shutdown(guest->socket_, SHUT_RDWR);
    }
  }
  for (std::thread& thread : threads_) thread.join();
}

bool Crowd::WaitForRoom(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  if (short_of_threads_) StartThread();
  if (here_ >= most_ || short_of_threads_) SendIdleAway();
  return left_.wait_for(lock, most, [&] { return here_ < most_; });
}

void Crowd::Add(int socket) {
  const std::lock_guard lock(mutex_);
  ++here_;
  waiting_.push_back(socket);
  StartThread();
  came_.notify_one();
}

// Where none is free for a client that waits.
void Crowd::StartThread() {
  short_of_threads_ = false;
  if (free_threads_ >= waiting_.size() || threads_.size() >= most_) return;
  try {
    threads_.emplace_back([this] { Run(); });
  } catch (const std::system_error&) {
    // None to be had: the client waits for one of those there are, or for the
    // next try.
    short_of_threads_ = true;
  }
}

void Crowd::Run() {
  // A client that is gone is an error of one write, not a signal to the process.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);

  std::unique_lock lock(mutex_);
  while (true) {
    ++free_threads_;
    came_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    --free_threads_;
    if (waiting_.empty()) return;
    const int socket = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    serve_(socket);
    lock.lock();
    --here_;
    left_.notify_one();
  }
}

void Crowd::SendIdleAway() {
  const auto longest =
      std::ranges::min_element(guests_, {}, [](const Guest* g) { return g->idle_since_.load(); });
  if (longest == guests_.end()) return;
  const Guest::Time since = (*longest)->idle_since_;
  if (since == Guest::Time::max() || std::chrono::steady_clock::now() - since < kIdler) return;
  shutdown((*longest)->socket_, SHUT_RD);
}

void Crowd::Stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  // Whoever waits for bytes from now on finds the end of them.
  for (const Guest* guest : guests_) shutdown(guest->socket_, SHUT_RD);
  came_.notify_all();
}

Crowd::Guest::Guest(Crowd& crowd, int socket) : crowd_(crowd), socket_(socket) {
  const std::lock_guard lock(crowd_.mutex_);
  crowd_.guests_.insert(this);
  if (crowd_.stop_) shutdown(socket_, SHUT_RD);
}

Crowd::Guest::~Guest() {
  const std::lock_guard lock(crowd_.mutex_);
  crowd_.guests_.erase(this);
}

bool Crowd::Guest::Idle() {
  idle_since_ = std::chrono::steady_clock::now();
  return !crowd_.stop_;
}

bool Crowd::Guest::Busy() {
  idle_since_ = Time::max();
  return !crowd_.stop_;
}

}  // namespace crossilo

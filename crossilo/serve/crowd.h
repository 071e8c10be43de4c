#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace crossilo {

// The clients that are served at the same time, a thread each: a request may
// wait for others to be coded together with them, and a thread that waits
// costs little.  Threads are made as clients come and stay for the next ones.
class Crowd {
 public:
  // One client, from its thread's point of view.  A request takes no lock here:
  // one that a waiting thread held would hold up all others.
  class Guest {
   public:
    Guest(Crowd& crowd, int socket);
    ~Guest();  // before the socket is closed
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    // It waits for its next request, or has one; false once Stop was called.
    bool Idle();
    bool Busy();

   private:
    friend class Crowd;
    using Time = std::chrono::steady_clock::time_point;

    Crowd& crowd_;
    const int socket_;
    std::atomic<Time> idle_since_ = Time::max();  // max: it is busy
  };

  // `serve` is called with the socket of each client, on some thread; it makes a
  // Guest of it and closes it.
  Crowd(int most, std::function<void(int socket)> serve);
  // Stop, if that was not called, and waits for all.
  ~Crowd();

  // Waits until there is room, at most so long; false where there is none.
  // Meanwhile the client that has been idle longest, and for a while, is sent
  // away.
  bool WaitForRoom(std::chrono::milliseconds most);
  void Add(int socket);

  // Idle clients, and those that have not sent their whole request, end now;
  // the others after their answer.
  void Stop();

 private:
  void Run();
  void StartThread();
  void SendIdleAway();

  const size_t most_;
  const std::function<void(int)> serve_;
  std::mutex mutex_;
  std::condition_variable came_, left_;
  std::deque<int> waiting_;  // not yet with a thread
  std::set<Guest*> guests_;
  size_t here_ = 0;  // waiting or with a thread
  size_t free_threads_ = 0;
  bool short_of_threads_ = false;  // the last one that was wanted could not be made
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace crossilo

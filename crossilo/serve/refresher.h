#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "crossilo/serve/searcher.h"

namespace crossilo {

// The generation that serves now, kept up with the disk by a thread of its own
// for as long as this object lives.
class Refresher {
 public:
  // Opens the collection; throws what `open` throws.  Then, every `seconds`,
  // takes in what was added and opens a new generation where `current` (which
  // may be empty) names another, or where the file was replaced by another one.
  // `warn` hears of a failure once.
  Refresher(OpenSite open, std::function<int()> current, double seconds,
            std::function<void(const std::string&)> warn);
  ~Refresher();

  // Whoever holds the pointer may finish with it, whatever is opened since.  Null
  // while the collection's file is none.
  std::shared_ptr<Site> site() const;

 private:
  void Run(double seconds);
  void Look();
  void Serve(std::shared_ptr<Site> next);

  OpenSite open_;
  std::function<int()> current_;
  std::function<void(const std::string&)> warn_;
  // Not std::atomic of it: where many threads share few cores, its spinning
  // readers would keep the one they wait for from running.
  mutable std::mutex site_mutex_;
  std::shared_ptr<Site> site_;
  std::string last_warning_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace crossilo

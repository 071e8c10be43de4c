#include "crossilo/serve/refresher.h"

#include <chrono>

namespace crossilo {
namespace {

std::shared_ptr<Site> Opened(const OpenSite& open) {
  auto site = open();
  if (!site) throw Error("the collection does not open; build it again");
  return site;
}

}  // namespace

Refresher::Refresher(OpenSite open, std::function<int()> current, double seconds,
                     std::function<void(const std::string&)> warn)
    : open_(std::move(open)),
      current_(std::move(current)),
      warn_(std::move(warn)),
      site_(Opened(open_)),
      thread_([this, seconds] { Run(seconds); }) {}

Refresher::~Refresher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Refresher::Run(double seconds) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return stop_; })) {
    lock.unlock();
    std::string warning;
    try {
      Look();
    } catch (const std::exception& error) {
      warning = error.what();
    }
    // The same failure every second would bury everything else.
    if (!warning.empty() && warning != last_warning_ && warn_) warn_(warning);
    last_warning_ = warning;
    lock.lock();
  }
}

std::shared_ptr<Site> Refresher::site() const {
  const std::lock_guard lock(site_mutex_);
  return site_;
}

void Refresher::Serve(std::shared_ptr<Site> next) {
  const std::lock_guard lock(site_mutex_);
  site_.swap(next);
}

void Refresher::Look() {
  const std::shared_ptr<Site> now = site();
  const int current = current_ ? current_() : now ? now->generation() : 0;
  if (!now || current != now->generation()) return Serve(Opened(open_));
  try {
    now->store().Refresh();
  } catch (const StaleStore&) {
    // Perhaps a whole one.  Else nobody must read on what was mapped: bytes that
    // were cut off end the process.
    Serve(nullptr);
    Serve(Opened(open_));
  }
}

}  // namespace crossilo

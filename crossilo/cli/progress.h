#pragma once

#include <chrono>
#include <string>

namespace crossilo {

// "2 h 05 min", "3 min 07 s", "12 s", "0.4 s".
std::string Duration(double seconds);

// Tells a person how far something is.  On a terminal one line is rewritten;
// elsewhere every message is a line of its own, at most one a second and the
// last one always, so that a log stays readable.  Writes to stderr.
class Progress {
 public:
  // `what` is done after `total` units; `done` of them were done before.
  Progress(std::string what, int64_t total, int64_t done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `detail` stands between the count and the time left.
  void Show(int64_t done, const std::string& detail = {});
  // A line that stays, above the progress line.
  void Say(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  int64_t total_, first_;
  bool terminal_;
  bool open_ = false;  // a line on the terminal waits to be ended
  Clock::time_point start_, last_;
};

}  // namespace crossilo

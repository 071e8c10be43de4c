#include "crossilo/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace crossilo {

std::string Duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Progress::Progress(std::string what, int64_t total, int64_t done)
    : what_(std::move(what)),
      total_(total),
      first_(done),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_ - std::chrono::hours(1)) {}

Progress::~Progress() {
  if (open_) std::fputc('\n', stderr);
}

void Progress::Show(int64_t done, const std::string& detail) {
  const auto now = Clock::now();
  const auto gap = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000);
  if (now - last_ < gap && done < total_) return;
  last_ = now;
  const double spent = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{} {}/{}", what_, done, total_);
  if (!detail.empty()) line += "  " + detail;
  if (done >= total_) {
    line += fmt::format("  done in {}", Duration(spent));
  } else if (done > first_) {
    const double each = spent / static_cast<double>(done - first_);
    line += fmt::format("  {} left", Duration(each * static_cast<double>(total_ - done)));
  }
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    open_ = done < total_;
    if (!open_) std::fputc('\n', stderr);
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

void Progress::Say(const std::string& line) {
  std::fprintf(stderr, open_ ? "\r\033[K%s\n" : "%s\n", line.c_str());
  open_ = false;
}

}  // namespace crossilo

#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace crossilo {

// The world failed: a file, a peer, a setting, a user.  The message says what
// is wrong, where, and what to do about it, in one sentence for the person who
// reads it; it becomes text on a screen at the program's edge, nowhere else.
//
//   throw Error("{}: 12 rows of pictures but {} of text; import both again", path, rows);
class Error : public std::runtime_error {
 public:
  template <typename... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// The text of the last failed system call, such as "No space left on device".
std::string SystemMessage();

}  // namespace crossilo

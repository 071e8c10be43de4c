#pragma once

#include <cstdint>
#include <string>

namespace crossilo {

// The calls by which a store writes, taken over for the tests that kill it.
// What is synced is not lost by a kill, so syncing itself is only counted.
struct KillableCalls {
  int64_t left = -1;            // until the process dies; negative: it does not
  bool in_the_middle = false;   // of the last one, half done, instead of before it
  std::string* seen = nullptr;  // what was called, in words
  bool sync_fails = false;      // of what a log has
};
extern KillableCalls killable_calls;

}  // namespace crossilo

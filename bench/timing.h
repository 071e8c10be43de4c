#pragma once

#include <chrono>
#include <functional>

#include "crossilo/base/elapsed.h"

namespace crossilo {

inline double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return SecondsSince(start);
}

}  // namespace crossilo

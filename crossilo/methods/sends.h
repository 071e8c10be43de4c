#pragma once

#include <string>
#include <vector>

#include "crossilo/methods/method.h"

namespace crossilo {

// One part of a message between a silo and the hub.
struct Sent {
  std::string what;   // "weights", or the name the method gave it
  std::string shape;  // "10 x 32", or how many tensors there are
  int64_t bytes = 0;
  bool up = true;       // from silo to hub; else from hub to silo
  bool in_sum = false;  // the hub needs only its mean over silos, so it can be hidden
};

// What passes in the second round of a small federation (one silo, DCMH with
// 32 bits, 512 image and 1000 text features, 10 classes), read off the messages
// themselves.
std::vector<Sent> WhatItSends(const Method& method);

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <functional>

namespace crossilo {

// Threads that a request for `threads` means: 0 is one a core.
int Workers(int threads);

// Calls work(item, worker) once for every item from 0 to count - 1, on up to
// `workers` threads numbered from 0; which worker takes which item is not
// fixed.  The first exception of any of them stops the rest and is thrown here.
void ForEach(int64_t count, int workers, const std::function<void(int64_t, int)>& work);

}  // namespace crossilo

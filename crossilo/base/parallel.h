#pragma once

#include <cstdint>
#include <functional>

namespace crossilo {

// Threads that a request for `threads` means: 0 is one a core.
int Workers(int threads);

// Calls work(item, worker) once for every item from 0 to count - 1, on up to
// `workers` threads numbered from 0; which worker takes which item is not
// fixed.  After a failure no new item is begun, and once all threads have
// ended the exception of the lowest item is thrown: items are begun in order,
// so that is the same one on every machine.
void ForEach(int64_t count, int workers, const std::function<void(int64_t, int)>& work);

// On all cores.
void ForEach(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace crossilo

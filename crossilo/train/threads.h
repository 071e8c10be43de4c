#pragma once

namespace crossilo {

// Lets the calling thread's arithmetic use `threads` cores, in libtorch and in
// the BLAS below it.  Sums come out differently with another number, so it is
// a setting of the experiment; the number of silos trained at once is not.
void UseThreads(int threads);

}  // namespace crossilo

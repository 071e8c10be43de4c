#include "crossilo/train/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include "crossilo/tensors/torch.h"

namespace crossilo {

void UseThreads(int threads) {
  at::set_num_threads(threads);
  // OpenBLAS keeps threads of its own that libtorch does not know of.  It is
  // not there in every build of libtorch, so it is looked up, not linked.
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(threads);
  }
  // Adam's second moments decay into denormal numbers, which cost a hundred
  // cycles each.
  at::globalContext().setFlushDenormal(true);
}

}  // namespace crossilo

#include "crossilo/base/error.h"
#include "crossilo/data/hdf5.h"

namespace crossilo {

std::map<std::string, Array> ReadH5(const std::filesystem::path& path) {
  throw Error("{}: this build reads no HDF5 files; install libhdf5-dev and build again",
              path.string());
}

}  // namespace crossilo

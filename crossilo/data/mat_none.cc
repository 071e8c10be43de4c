#include "crossilo/base/error.h"
#include "crossilo/data/mat.h"

namespace crossilo {

std::map<std::string, Array> ReadMat(const std::filesystem::path& path) {
  throw Error("{}: this build reads no .mat files; install libmatio-dev and build again",
              path.string());
}

}  // namespace crossilo

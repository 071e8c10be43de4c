#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "crossilo/data/array.h"

namespace crossilo {

// All datasets of whole numbers, floats and booleans of an HDF5 file, by their
// path without the first "/": "features/image".  Links to other files are not
// followed.  Throws Error naming the path and what is wrong, for a damaged file
// too, or that this build reads no HDF5.
std::map<std::string, Array> ReadH5(const std::filesystem::path& path);

}  // namespace crossilo

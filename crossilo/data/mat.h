#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "crossilo/data/array.h"

namespace crossilo {

// The real numeric and logical matrices of a MATLAB file, version 5 to 7.3, in
// row order; sparse ones made dense.  A matrix inside a 1 x 1 struct is called
// "struct.field".  Cells, texts, complex numbers and arrays of more than two
// dimensions are left out.  Throws Error naming the path and what is wrong,
// for a damaged file too, or that this build reads no .mat files.
std::map<std::string, Array> ReadMat(const std::filesystem::path& path);

}  // namespace crossilo

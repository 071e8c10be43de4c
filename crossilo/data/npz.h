#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "crossilo/data/array.h"

namespace crossilo {

// The numeric arrays of a file made by numpy.savez (views into the mapped
// file) or numpy.savez_compressed (unpacked), by name without ".npy".  Texts
// and objects are left out.  Throws Error naming the path and what is wrong.
std::map<std::string, Array> ReadNpz(const std::filesystem::path& path);

// An array of texts, in UTF-8.  Throws Error, naming the members there are.
std::vector<std::string> ReadNpzStrings(const std::filesystem::path& path,
                                        const std::string& member);

}  // namespace crossilo

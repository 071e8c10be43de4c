#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "crossilo/data/array.h"

namespace crossilo {

// Hands over one array, row-major; `bytes` is copied.
using PutArray =
    std::function<void(const std::string& name, Dtype type, const std::vector<int64_t>& shape,
                       std::span<const std::byte> bytes)>;

// Runs `read` in a child process and returns the arrays it put.  The libraries
// for .mat and HDF5 files crash on some damaged ones (their bug lists say so,
// our tests see it); there the child dies and the caller gets an Error.  An
// Error that `read` throws arrives as it was.  What the libraries print is
// dropped.  `path` is the file that is read; its size bounds the child's time
// and memory.
std::map<std::string, Array> ReadApart(const std::filesystem::path& path,
                                       const std::function<void(const PutArray&)>& read);

// The most bytes that a file of that size can unpack to, for readers to hold
// against what a header claims: no packing we know beats 1032 to 1.
uint64_t MostUnpacked(uint64_t file_size);

}  // namespace crossilo

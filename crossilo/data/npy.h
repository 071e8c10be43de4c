#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crossilo/data/array.h"

namespace crossilo {

// An array in numpy's .npy format, versions 1 to 3: booleans, whole numbers
// and floats, little-endian.  C order is mapped, Fortran order copied into row
// order.  Throws Error, naming the path and the first thing wrong.
Array ReadNpy(const std::filesystem::path& path);

// The same bytes that numpy.save writes.  Atomic (see WriteFile).  `bytes`
// holds exactly the elements that `shape` says, row-major.
void WriteNpy(const std::filesystem::path& path, Dtype type, const std::vector<int64_t>& shape,
              std::span<const std::byte> bytes);

// The bytes before the elements; their number is a multiple of 64.
std::string NpyHeader(Dtype type, const std::vector<int64_t>& shape);

// A .npy in memory: a view where the order allows, which shares `owner`.
// `origin` stands in errors for the path.
Array DecodeNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                const std::string& origin);

// The texts of an array of fixed-width strings (numpy kinds U and S), in UTF-8
// and row order.
std::vector<std::string> DecodeNpyStrings(std::span<const std::byte> bytes,
                                          const std::string& origin);

// Whether DecodeNpy would know this array's kind of element: false for texts,
// objects and records.  Throws Error where there is no header.
bool IsNumericNpy(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace crossilo

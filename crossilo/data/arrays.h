#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "crossilo/data/array.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// One array of a .npy, .npz, .mat, .h5 or .hdf5 file, by the file's ending.
// `place` is a path, or path:name where the file holds several arrays.  Throws
// Error, naming the arrays there are.
Array ReadArray(const std::string& place);

// The file's ending of a place, such as ".mat".
std::string KindOf(const std::string& place);

// The array as a tensor that shares its memory and keeps it alive.  That memory
// may be a mapped file: it can be read, never written to.  Copied are float64
// (to float32), unsigned numbers that torch has no type for (to int64),
// booleans and what is not aligned.
torch::Tensor ToTensor(const Array& array);

// Row numbers from a vector (n, n x 1 or 1 x n) of whole numbers, less `base`;
// from a vector of booleans the numbers of those that are true.  Throws Error
// where it is none.  Bounds are for Check to judge.
std::vector<int64_t> ToRows(const Array& array, int64_t base, const std::string& origin);

// A tensor of any type that .npy knows, written as numpy would.
void WriteTensor(const std::filesystem::path& path, const torch::Tensor& tensor);

}  // namespace crossilo

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "crossilo/codes/packed_codes.h"

namespace crossilo {

// Codes with an id each, as other systems keep them.
struct ForeignCodes {
  PackedCodes codes;
  std::vector<int64_t> ids;  // empty: the row numbers
};

// faiss's IndexBinaryFlat ("IBxF") and IndexBinaryIDMap or IDMap2 around one
// ("IBMp", "IBM2"), as write_index_binary writes them.  Throws Error, naming
// the path and the first thing wrong; refuses other index types by name.
ForeignCodes ReadFaiss(const std::filesystem::path& path);
// Same, of a file's bytes; `where` names them.
ForeignCodes ParseFaiss(std::span<const std::byte> bytes, const std::string& where);

// An IndexBinaryFlat, or with ids an IndexBinaryIDMap around one.  Atomic.
void WriteFaiss(const std::filesystem::path& path, const ForeignCodes& codes);

}  // namespace crossilo

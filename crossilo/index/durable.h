#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "crossilo/base/file.h"

namespace crossilo {

// WriteFile, and the file is still under its name after a loss of power.  Removes
// leftovers, so only for whoever holds the lock under which the path is written.
void WriteDurably(const std::filesystem::path& path, const std::function<void(const Put&)>& write);

// Removes what a killed WriteFile of this path left beside it.  Only for whoever
// holds the lock under which the path is written.
void RemoveLeftovers(const std::filesystem::path& path);

// Tells a file from any other that has its name later, as long as somebody has it
// open; zeros where no file has the name.
struct FileNumber {
  uint64_t device = 0, inode = 0;

  bool operator==(const FileNumber&) const = default;
};
FileNumber FileNumberOf(const std::filesystem::path& path);

}  // namespace crossilo

#pragma once

#include <filesystem>
#include <functional>

#include "crossilo/base/file.h"

namespace crossilo {

// Where a file lies, "." where its path does not say.
std::filesystem::path FolderOf(const std::filesystem::path& path);

// Makes renames in a folder survive a loss of power.
void SyncFolder(const std::filesystem::path& folder);

// WriteFile, and the file is still under its name after a loss of power.
void WriteDurably(const std::filesystem::path& path, const std::function<void(const Put&)>& write);

// Removes what a killed WriteFile of this path left beside it.  Only for whoever
// holds the lock under which the path is written.
void RemoveLeftovers(const std::filesystem::path& path);

}  // namespace crossilo

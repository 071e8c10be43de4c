#pragma once

#include <filesystem>
#include <system_error>

namespace crossilo {

// Removes a file, or a folder with everything in it; nothing where there is
// none.  Links are removed, not followed.  Our own because that of
// std::filesystem ends the process once the libtorch of the Python packages is
// loaded (2.11): parts of libstdc++ that it brings along take the system's place.
void RemoveAll(const std::filesystem::path& path, std::error_code& failed);
// Throws Error.
void RemoveAll(const std::filesystem::path& path);

}  // namespace crossilo

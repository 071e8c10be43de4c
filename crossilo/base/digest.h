#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace crossilo {

// SHA-256 as 64 lower-case hex digits: names a backbone file, a bundle, a
// dataset's embedder, so that what was made with one is not used with another.
std::string Sha256(std::string_view bytes);
std::string Sha256OfFile(const std::filesystem::path& path);

}  // namespace crossilo

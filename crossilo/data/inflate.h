#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace crossilo {

// A whole raw deflate stream (as zip has it) that gives exactly `size` bytes;
// nothing where it is damaged, longer or shorter.
std::optional<std::vector<std::byte>> Inflate(std::span<const std::byte> packed, size_t size);

// The number of bytes that a whole zlib stream (as .mat has it) gives, with its
// checksum verified; nothing where it is damaged.
std::optional<size_t> InflatedSize(std::span<const std::byte> packed);

// A file's content, unpacked where it is a .gz.  Throws Error naming the path.
std::string ReadPlainOrGz(const std::filesystem::path& path);

}  // namespace crossilo

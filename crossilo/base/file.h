#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace crossilo {

// The whole file.  Throws Error naming the path.
std::string ReadFile(const std::filesystem::path& path);

// Writes a file that is either the old one or the new one, never a part: to a
// temporary name in the same folder, synced, then renamed.  On failure (a full
// disk) the temporary is removed, the old file stands, and Error says why.
// Missing parent folders are made.
void WriteFile(const std::filesystem::path& path, std::string_view content);

// Same, for content that is written piece by piece through `put`.
using Put = std::function<void(std::string_view)>;
void WriteFile(const std::filesystem::path& path, const std::function<void(const Put&)>& write);

// A file's bytes mapped read-only into memory for this object's lifetime.
// Movable, not copyable.  An empty file has an empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace crossilo

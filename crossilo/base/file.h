#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "crossilo/base/error.h"

namespace crossilo {

// The whole file, or all that a pipe gives whose other end is open.  Throws Error
// naming the path.
std::string ReadFile(const std::filesystem::path& path);

// Writes a file that is either the old one or the new one, never a part: to a
// temporary name in the same folder, synced, then renamed.  On failure (a full
// disk) the temporary is removed, the old file stands, and Error says why.
// Missing parent folders are made.  Who may read the old file may read the new one,
// and nobody else.
void WriteFile(const std::filesystem::path& path, std::string_view content);

// Same, for content that is written piece by piece through `put`.
using Put = std::function<void(std::string_view)>;
void WriteFile(const std::filesystem::path& path, const std::function<void(const Put&)>& write);

// All of the bytes, behind those that the descriptor has written.  Throws
// WriteError.
void WriteAll(int descriptor, std::string_view bytes, const std::filesystem::path& path);
// What to throw where a call has just failed (errno) to write to the path.
Error WriteError(const std::filesystem::path& path);

// A descriptor to read a plain file by; -1, with errno, where it cannot be opened.
// Throws Error where it is anything else, at once: a pipe could keep us waiting.
int OpenPlainFile(const std::filesystem::path& path);

// Where a file lies, "." where its path does not say.
std::filesystem::path FolderOf(const std::filesystem::path& path);
// Makes what was created and renamed in a folder survive a loss of power.
void SyncFolder(const std::filesystem::path& folder);
// Makes a folder and those above it that are missing, each to survive a loss of
// power.  Throws Error naming the one that cannot be made.
void MakeFolders(const std::filesystem::path& folder);

// A file's bytes mapped read-only into memory for this object's lifetime.
// Movable, not copyable.  An empty file has an empty span.  Whoever cuts off the
// file meanwhile, as `cp` over it does, kills the process that looks (SIGBUS).
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

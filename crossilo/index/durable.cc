#include "crossilo/index/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "crossilo/base/error.h"

namespace crossilo {

namespace fs = std::filesystem;

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void SyncFolder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const std::string reason = synced ? "" : SystemMessage();
  if (fd >= 0) ::close(fd);
  if (!synced) throw Error("{}: cannot sync the folder: {}", folder.string(), reason);
}

void WriteDurably(const fs::path& path, const std::function<void(const Put&)>& write) {
  WriteFile(path, write);
  SyncFolder(FolderOf(path));
}

void RemoveLeftovers(const fs::path& path) {
  const std::string prefix = path.filename().string() + ".part-";
  std::error_code failed;  // they are only clutter: what cannot go, stays
  for (const auto& entry : fs::directory_iterator(FolderOf(path), failed)) {
    if (entry.path().filename().string().starts_with(prefix)) fs::remove(entry.path(), failed);
  }
}

}  // namespace crossilo

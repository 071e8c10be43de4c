#include "crossilo/index/durable.h"

#include <sys/stat.h>

#include <string>

namespace crossilo {

namespace fs = std::filesystem;

void WriteDurably(const fs::path& path, const std::function<void(const Put&)>& write) {
  RemoveLeftovers(path);
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

FileNumber FileNumberOf(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return {.device = about.st_dev, .inode = about.st_ino};
}

}  // namespace crossilo

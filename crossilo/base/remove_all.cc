#include "crossilo/base/remove_all.h"

#include <vector>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// Listed first: what becomes of an iteration over a folder that changes is not
// said anywhere.
std::vector<fs::path> Entries(const fs::path& folder, std::error_code& failed) {
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    entries.push_back(at->path());
  }
  return entries;
}

}  // namespace

void RemoveAll(const fs::path& path, std::error_code& failed) {
  const fs::file_status status = fs::symlink_status(path, failed);
  if (status.type() == fs::file_type::not_found) {
    failed.clear();
    return;
  }
  if (fs::is_directory(status)) {
    for (const fs::path& entry : Entries(path, failed)) {
      if (!failed) RemoveAll(entry, failed);
    }
  }
  if (!failed) fs::remove(path, failed);
}

void RemoveAll(const fs::path& path) {
  std::error_code failed;
  RemoveAll(path, failed);
  if (failed) throw Error("{}: cannot be removed: {}", path.string(), failed.message());
}

}  // namespace crossilo

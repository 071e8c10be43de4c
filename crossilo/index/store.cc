#include "crossilo/index/store.h"

#include "crossilo/base/error.h"
#include "crossilo/index/durable.h"
#include "crossilo/index/file_store.h"
#include "crossilo/index/item_bytes.h"
#include "crossilo/index/segment_writer.h"

namespace crossilo {

namespace fs = std::filesystem;

void Store::Create(const fs::path& path, const Schema& schema, int64_t count,
                   const std::function<Item(int64_t)>& item, const StoreOptions& options) {
  CheckIndexName(options.index);
  CheckSchema(schema);
  MakeFolders(FolderOf(path));
  const WriterLock lock(LockPath(path));
  if (fs::exists(path)) throw Error("{}: is there already; remove it first", path.string());
  RemoveLeftovers(path);
  SegmentWriter writer(schema, FolderOf(path));
  for (int64_t i = 0; i < count; ++i) writer.Add(item(i));
  const FileHeader header = writer.Finish(options.index, 1, options.threads);
  // A log without its file belongs to nothing.
  fs::remove(LogPath(path));
  WriteDurably(path, [&](const crossilo::Put& put) { writer.Write(header, put); });
}

std::unique_ptr<Store> Store::Open(const fs::path& path, const StoreOptions& options) {
  return std::make_unique<FileStore>(path, options, false);
}

std::unique_ptr<Store> Store::OpenForWriting(const fs::path& path, const StoreOptions& options) {
  return std::make_unique<FileStore>(path, options, true);
}

}  // namespace crossilo

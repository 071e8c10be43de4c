#include "crossilo/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// Owns a descriptor, so that an exception closes it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// Gives a file that is to replace `path` its permissions.
void TakeOverMode(int fd, const fs::path& path) {
  constexpr mode_t kPermissions = 0777;
  struct stat old {};
  struct stat now {};
  if (::stat(path.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
  // Some file systems have one mode for all, and refuse to set it.
  if (::fstat(fd, &now) == 0 && (now.st_mode & kPermissions) == (old.st_mode & kPermissions))
    return;
  if (::fchmod(fd, old.st_mode & kPermissions) != 0) {
    throw Error("{}: cannot keep its permissions: {}", path.string(), SystemMessage());
  }
}

void WriteSynced(const fs::path& path, const fs::path& replaced,
                 const std::function<void(const Put&)>& write) {
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (file.fd < 0) {
    throw Error("{}: cannot create: {}", path.string(), SystemMessage());
  }
  TakeOverMode(file.fd, replaced);
  write([&](std::string_view bytes) { WriteAll(file.fd, bytes, path); });
  if (::fsync(file.fd) != 0) {
    throw Error("{}: cannot sync: {}", path.string(), SystemMessage());
  }
}

}  // namespace

std::string ReadFile(const fs::path& path) {
  // Opened without waiting, because nobody may ever open a pipe's other end; read
  // with waiting, because somebody has.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat about {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0 || ::fcntl(file.fd, F_SETFL, 0) != 0) {
    throw Error("{}: cannot open: {}", path.string(), SystemMessage());
  }
  if (S_ISDIR(about.st_mode)) throw Error("{}: cannot open: it is a folder", path.string());
  // With room for a byte more, which shows the end.
  std::string content(S_ISREG(about.st_mode) ? static_cast<size_t>(about.st_size) + 1 : 4096, '\0');
  size_t filled = 0;
  while (true) {
    if (filled == content.size()) content.resize(2 * filled);
    const ssize_t got = ::read(file.fd, content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("{}: cannot read: {}", path.string(), SystemMessage());
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  content.resize(filled);
  return content;
}

void WriteFile(const fs::path& path, std::string_view content) {
  WriteFile(path, [&](const Put& put) { put(content); });
}

void WriteFile(const fs::path& path, const std::function<void(const Put&)>& write) {
  std::error_code failed;
  MakeFolders(path.parent_path());
  // The process number keeps two writers of one path out of each other's way.
  fs::path temporary = path;
  temporary += ".part-" + std::to_string(::getpid());
  try {
    WriteSynced(temporary, path, write);
    fs::rename(temporary, path);
  } catch (const fs::filesystem_error& error) {
    fs::remove(temporary, failed);
    throw Error("{}: cannot put in place: {}", path.string(), error.code().message());
  } catch (...) {
    fs::remove(temporary, failed);
    throw;
  }
}

void WriteAll(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw WriteError(path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

Error WriteError(const fs::path& path) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return Error(
      "{}: cannot write: {}; {}", path.string(), SystemMessage(),
      full ? "free some space or choose another folder" : "see whether its disk is in order");
}

int OpenPlainFile(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat about {};
  if (fd < 0 || (::fstat(fd, &about) == 0 && S_ISREG(about.st_mode))) return fd;
  ::close(fd);
  throw Error("{}: not a plain file; put one in its place", path.string());
}

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void SyncFolder(const fs::path& folder) {
  Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.fd >= 0 && ::fsync(opened.fd) == 0) return;
  // By this a file system says that it has no way to.
  if (opened.fd >= 0 && errno == EINVAL) return;
  throw Error("{}: cannot sync the folder: {}", folder.string(), SystemMessage());
}

void MakeFolders(const fs::path& folder) {
  std::error_code failed;
  if (folder.empty() || fs::is_directory(folder, failed)) return;
  MakeFolders(folder.parent_path());
  fs::create_directory(folder, failed);
  if (failed) throw Error("{}: cannot make the folder: {}", folder.string(), failed.message());
  SyncFolder(FolderOf(folder));
}

MappedFile::MappedFile(const fs::path& path) {
  Descriptor file{OpenPlainFile(path)};
  struct stat about {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0) {
    throw Error("{}: cannot open: {}", path.string(), SystemMessage());
  }
  size_ = static_cast<size_t>(about.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED) {
    throw Error("{}: cannot map: {}", path.string(), SystemMessage());
  }
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace crossilo

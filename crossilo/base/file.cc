#include "crossilo/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "crossilo/base/error.h"

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

void WriteAll(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      throw Error("{}: cannot write: {}; free some space or choose another folder", path.string(),
                  SystemMessage());
    }
    bytes.remove_prefix(written);
  }
}

void WriteSynced(const fs::path& path, const std::function<void(const Put&)>& write) {
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (file.fd < 0) {
    throw Error("{}: cannot create: {}", path.string(), SystemMessage());
  }
  write([&](std::string_view bytes) { WriteAll(file.fd, bytes, path); });
  if (::fsync(file.fd) != 0) {
    throw Error("{}: cannot sync: {}", path.string(), SystemMessage());
  }
}

}  // namespace

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) {
    throw Error("{}: cannot open: {}", path.string(),
                fs::is_directory(path) ? "it is a folder" : SystemMessage());
  }
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

void WriteFile(const fs::path& path, std::string_view content) {
  WriteFile(path, [&](const Put& put) { put(content); });
}

void WriteFile(const fs::path& path, const std::function<void(const Put&)>& write) {
  std::error_code failed;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed);
  if (failed) {
    throw Error("{}: cannot make the folder: {}", path.parent_path().string(), failed.message());
  }
  // The process number keeps two writers of one path out of each other's way.
  fs::path temporary = path;
  temporary += ".part-" + std::to_string(::getpid());
  try {
    WriteSynced(temporary, write);
    fs::rename(temporary, path);
  } catch (const fs::filesystem_error& error) {
    fs::remove(temporary, failed);
    throw Error("{}: cannot put in place: {}", path.string(), error.code().message());
  } catch (...) {
    fs::remove(temporary, failed);
    throw;
  }
}

MappedFile::MappedFile(const fs::path& path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat about {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0) {
    throw Error("{}: cannot open: {}", path.string(), SystemMessage());
  }
  if (!S_ISREG(about.st_mode)) throw Error("{}: not a plain file", path.string());
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

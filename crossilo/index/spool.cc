#include "crossilo/index/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

constexpr size_t kInMemory = 4u << 20;

int OpenNameless(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  std::string name = folder / ".spool-XXXXXX";
  const int named = ::mkstemp(name.data());
  if (named < 0) throw Error("{}: cannot create a file: {}", folder.string(), SystemMessage());
  ::unlink(name.c_str());
  return named;
}

}  // namespace

Spool::Spool(std::filesystem::path folder) : folder_(std::move(folder)) {}

Spool::~Spool() {
  if (mapped_ != nullptr) ::munmap(mapped_, written_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Spool::Spool(Spool&& other) noexcept
    : folder_(std::move(other.folder_)),
      buffer_(std::move(other.buffer_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      written_(std::exchange(other.written_, 0)),
      mapped_(std::exchange(other.mapped_, nullptr)) {}

Spool& Spool::operator=(Spool&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(buffer_, other.buffer_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(written_, other.written_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

void Spool::Append(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kInMemory && !folder_.empty()) Spill();
}

void Spool::Spill() {
  if (descriptor_ < 0) descriptor_ = OpenNameless(folder_);
  WriteAll(descriptor_, buffer_, folder_);
  written_ += buffer_.size();
  buffer_.clear();
}

std::span<const std::byte> Spool::bytes() {
  if (descriptor_ < 0) return std::as_bytes(std::span(buffer_));
  if (mapped_ == nullptr) {
    Spill();
    buffer_.shrink_to_fit();
    void* mapped = ::mmap(nullptr, written_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (mapped == MAP_FAILED) throw Error("{}: cannot map: {}", folder_.string(), SystemMessage());
    mapped_ = mapped;
  }
  return {static_cast<const std::byte*>(mapped_), written_};
}

}  // namespace crossilo

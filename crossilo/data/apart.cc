#include "crossilo/data/apart.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/npy.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// What the child leaves in an unnamed file in memory: for every array this,
// its name, zeros to the next multiple of 64, and a .npy, padded likewise.
struct Record {
  uint64_t name_size, npy_size;
};

constexpr uint64_t kAlign = 64;
constexpr int kFailed = 3;  // exit status: the file holds an error's text

uint64_t Padding(uint64_t size) { return (kAlign - size % kAlign) % kAlign; }

struct Memory {
  int fd = ::memfd_create("crossilo", MFD_CLOEXEC);
  ~Memory() {
    if (fd >= 0) ::close(fd);
  }
};

void Append(int fd, const void* data, size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd, from, size);
    if (written <= 0) throw Error("not enough memory");
    from += written;
    size -= static_cast<size_t>(written);
  }
}

void AppendArray(int fd, const std::string& name, Dtype type, const std::vector<int64_t>& shape,
                 std::span<const std::byte> bytes) {
  const std::string header = NpyHeader(type, shape);
  const Record record{name.size(), header.size() + bytes.size()};
  const std::string zeros(kAlign, '\0');
  Append(fd, &record, sizeof record);
  Append(fd, name.data(), name.size());
  Append(fd, zeros.data(), Padding(sizeof record + name.size()));
  Append(fd, header.data(), header.size());
  Append(fd, bytes.data(), bytes.size());
  Append(fd, zeros.data(), Padding(record.npy_size));
}

void Limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(most, limit.rlim_max);
  ::setrlimit(resource, &limit);
}

// A damaged file must not fill the memory, run forever, leave a core file or
// print to the terminal.
void Confine(uint64_t file_size) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t used = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // Twice what a file can hold at most, its bytes widened to doubles.
  Limit(RLIMIT_AS, used + (uint64_t{256} << 20) + 16 * MostUnpacked(file_size));
  Limit(RLIMIT_CPU, 60 + file_size / 1000000);
  Limit(RLIMIT_CORE, 0);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] void RunChild(int fd, uint64_t file_size,
                           const std::function<void(const PutArray&)>& read) {
  // No destructor and no exit handler of the parent's may run here.
  try {
    Confine(file_size);
    read([&](const auto& name, Dtype type, const auto& shape, auto bytes) {
      AppendArray(fd, name, type, shape, bytes);
    });
    ::_exit(0);
  } catch (const std::exception& error) {
    if (::ftruncate(fd, 0) == 0 && ::lseek(fd, 0, SEEK_SET) == 0 &&
        ::write(fd, error.what(), std::strlen(error.what())) > 0) {
      ::_exit(kFailed);
    }
  } catch (...) {
  }
  ::_exit(kFailed + 1);
}

// The child may have been confused by what it read: every bound is checked.
std::map<std::string, Array> Collect(std::shared_ptr<const MappedFile> file, const fs::path& path) {
  std::map<std::string, Array> arrays;
  auto rest = file->bytes();
  const auto take = [&](uint64_t size) {
    if (size > rest.size()) throw Error("{}: is damaged; copy it again", path.string());
    const auto taken = rest.first(size);
    rest = rest.subspan(size);
    return taken;
  };
  while (!rest.empty()) {
    Record record;
    std::memcpy(&record, take(sizeof record).data(), sizeof record);
    const auto letters = take(record.name_size);
    const std::string name(reinterpret_cast<const char*>(letters.data()), letters.size());
    take(Padding(sizeof record + record.name_size));
    arrays[name] = DecodeNpy(take(record.npy_size), file, path.string() + ":" + name);
    take(Padding(record.npy_size));
  }
  return arrays;
}

}  // namespace

uint64_t MostUnpacked(uint64_t file_size) { return 1032 * file_size; }

std::map<std::string, Array> ReadApart(const fs::path& path,
                                       const std::function<void(const PutArray&)>& read) {
  std::error_code unknown;
  const uint64_t file_size = fs::file_size(path, unknown);
  if (unknown) throw Error("{}: cannot open: {}", path.string(), unknown.message());
  const Memory memory;
  const pid_t child = memory.fd < 0 ? -1 : ::fork();
  if (child < 0) throw Error("{}: cannot start a reader: {}", path.string(), SystemMessage());
  if (child == 0) RunChild(memory.fd, file_size, read);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  auto content = std::make_shared<const MappedFile>(fmt::format("/proc/self/fd/{}", memory.fd));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Collect(std::move(content), path);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFailed) {
    const auto text = content->bytes();
    throw Error("{}", std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
  }
  throw Error("{}: is damaged: the library that reads it gave up; copy it again", path.string());
}

}  // namespace crossilo

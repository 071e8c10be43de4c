#include "crossilo/index/store_kill_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace crossilo {

KillableCalls killable_calls;

namespace {

[[noreturn]] void Die() {
  ::kill(::getpid(), SIGKILL);
  ::_exit(1);
}

// True where the process is to die inside this call.
bool Called(const char* name) {
  std::string* seen = killable_calls.seen;
  if (seen != nullptr && !seen->ends_with(name)) *seen += name;
  if (killable_calls.left < 0 || --killable_calls.left > 0) return false;
  if (!killable_calls.in_the_middle) Die();
  return true;
}

}  // namespace
}  // namespace crossilo

extern "C" {
ssize_t write(int fd, const void* bytes, size_t size) {
  const bool dies = crossilo::Called(" write");
  const ssize_t written = ::syscall(SYS_write, fd, bytes, dies ? size / 2 : size);
  if (dies) crossilo::Die();
  return written;
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  const bool dies = crossilo::Called(" pwrite");
  const ssize_t written = ::syscall(SYS_pwrite64, fd, bytes, dies ? size / 2 : size, offset);
  if (dies) crossilo::Die();
  return written;
}
int ftruncate(int fd, off_t size) noexcept {
  const bool dies = crossilo::Called(" ftruncate");
  const auto result = static_cast<int>(::syscall(SYS_ftruncate, fd, size));
  if (dies) crossilo::Die();
  return result;
}
int fsync(int fd) {
  struct stat about {};
  ::fstat(fd, &about);
  if (crossilo::Called(S_ISDIR(about.st_mode) ? " syncfolder" : " fsync")) crossilo::Die();
  return 0;
}
int fdatasync(int) {
  if (crossilo::Called(" fdatasync")) crossilo::Die();
  errno = EIO;
  return crossilo::killable_calls.sync_fails ? -1 : 0;
}
int rename(const char* from, const char* to) noexcept {
  const bool dies = crossilo::Called(" rename");
  const int result = ::renameat(AT_FDCWD, from, AT_FDCWD, to);
  if (dies) crossilo::Die();
  return result;
}
}

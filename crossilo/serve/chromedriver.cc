#include "crossilo/serve/chromedriver.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

// The body of an answer, once it is whole: the driver does not close the
// connection, so its length says where it ends.
std::optional<std::string> Body(const std::string& answer) {
  constexpr std::string_view kLength = "\r\ncontent-length:";
  size_t head = answer.find("\r\n\r\n");
  if (head == std::string::npos) return std::nullopt;
  std::string lower = answer.substr(0, head);
  for (char& c : lower) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  size_t at = lower.find(kLength);
  if (at == std::string::npos) throw Error("chromedriver gives no length of its answer");
  size_t length = std::stoul(lower.substr(at + kLength.size()));
  if (answer.size() < head + 4 + length) return std::nullopt;
  return answer.substr(head + 4, length);
}

// One request over a connection of its own.
std::string Exchange(int port, const std::string& request) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timeval patience{.tv_sec = 60};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  bool fine = connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  for (size_t sent = 0; fine && sent < request.size();) {
    ssize_t n = send(descriptor, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    fine = n > 0;
    sent += static_cast<size_t>(std::max<ssize_t>(n, 0));
  }
  std::string answer;
  std::optional<std::string> body;
  for (char buffer[65536]; fine && !body; body = Body(answer)) {
    ssize_t n = recv(descriptor, buffer, sizeof buffer, 0);
    fine = n > 0;
    answer.append(buffer, static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  close(descriptor);
  if (!body) throw Error("chromedriver does not answer on port {}", port);
  return *body;
}

// In the child after fork: nothing here may allocate.  The keeper leads a
// process group with the driver and its browser in it, and ends all of them
// once nobody holds the other end of `life` any more.
[[noreturn]] void Keep(int life, int driver_output, const char* const* environment) {
  setpgid(0, 0);
  // A listening socket kept open here would outlive its server.
  for (int other = 3; other < 1024; ++other) {
    if (other != life && other != driver_output) close(other);
  }
  if (fork() == 0) {
    dup2(driver_output, STDOUT_FILENO);
    const char* arguments[] = {"chromedriver", "--port=0", nullptr};
    execvpe("chromedriver", const_cast<char* const*>(arguments),
            const_cast<char* const*>(environment));
    _exit(127);
  }
  close(driver_output);
  char byte = 0;
  while (read(life, &byte, 1) < 0 && errno == EINTR) {
  }
  kill(0, SIGKILL);
  _exit(0);
}

// The port that the driver says it has, or 0 where it ended before.
int ReadPort(int output) {
  std::string said;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(output, buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<size_t>(n));
    size_t at = said.find("was started successfully on port ");
    if (at == std::string::npos || said.find('\n', at) == std::string::npos) continue;
    return atoi(said.c_str() + at + 33);
  }
  return 0;
}

}  // namespace

Chromedriver::Chromedriver() {
  std::string folder = std::filesystem::temp_directory_path() / "crossilo_browser_XXXXXX";
  if (!mkdtemp(folder.data())) throw Error("no folder for the browser: {}", SystemMessage());
  folder_ = folder;
  try {
    Start();
  } catch (...) {
    End();
    throw;
  }
}

Chromedriver::~Chromedriver() { End(); }

void Chromedriver::Start() {
  // They leave things in the folder for temporary files.
  std::vector<std::string> kept;
  for (char** one = environ; *one; ++one) {
    if (!std::string(*one).starts_with("TMPDIR=")) kept.emplace_back(*one);
  }
  kept.push_back("TMPDIR=" + folder_.string());
  std::vector<const char*> environment;
  for (const std::string& one : kept) environment.push_back(one.c_str());
  environment.push_back(nullptr);

  int life[2], output[2];
  if (pipe2(life, O_CLOEXEC) || pipe2(output, O_CLOEXEC)) {
    throw Error("no pipe to chromedriver: {}", SystemMessage());
  }
  keeper_ = fork();
  if (keeper_ == 0) {
    close(life[1]);
    close(output[0]);
    Keep(life[0], output[1], environment.data());
  }
  close(life[0]);
  close(output[1]);
  life_ = life[1];
  output_ = output[0];  // left open: the driver would die of writing to nobody
  port_ = ReadPort(output_);
  if (port_ == 0) {
    throw Error(
        "no chromedriver: the page is tested in a real browser; install the Debian packages "
        "chromium and chromium-driver");
  }
}

void Chromedriver::End() {
  close(life_);
  if (keeper_ > 0) waitpid(keeper_, nullptr, 0);
  close(output_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Chromedriver::Ask(const std::string& method, const std::string& path,
                              const std::string& body) const {
  return Exchange(port_,
                  fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n"
                              "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                              method, path, port_, body.size(), body));
}

}  // namespace crossilo

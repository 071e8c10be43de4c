// How does a running `crossilo serve` hold out against many clients?  See
// bench/README.md.  One thread and epoll: the load must not take from the
// server the cores that they share.
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/lines.h"

namespace crossilo {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string host = "127.0.0.1", port = "8080", token;
  int clients = 200;
  double seconds = 60, think_ms = 0, most_p99_ms = 50;
  std::vector<std::string> words = {"smiling cat", "red heart",   "dog",       "sun",
                                    "face",        "fire engine", "green tea", "moon",
                                    "car",         "flag",        "hand",      "house"};
  bool json = false;
};

struct Result {
  std::vector<float> milliseconds;  // of each answer that was right
  int64_t errors = 0;
  std::string first_error;
  double seconds = 0;
};

// One keep-alive connection.
struct Client {
  int socket = -1;
  size_t next_words = 0;
  bool asking = false;
  Clock::time_point asked;
  std::string came;
};

std::string Encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

class Load {
 public:
  explicit Load(const Options& options) : options_(options), epoll_(epoll_create1(0)) {
    for (const std::string& words : options.words) {
      requests_.push_back(fmt::format(
          "GET /api/search?words={}&k=20 HTTP/1.1\r\nHost: {}:{}\r\n{}\r\n", Encoded(words),
          options.host, options.port,
          options.token.empty() ? "" : "Authorization: Bearer " + options.token + "\r\n"));
    }
  }
  ~Load() {
    for (const Client& client : clients_) close(client.socket);
    close(epoll_);
  }

  Result Run() {
    Connect();
    const auto start = Clock::now();
    const auto end = start + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(options_.seconds));
    for (size_t c = 0; c < clients_.size(); ++c) Ask(c);
    // Answers that are under way at the end still count.
    while (Clock::now() < end || asking_ > 0) {
      if (Clock::now() > end + std::chrono::seconds(10)) {
        Fail(fmt::format("{} clients got no answer within 10 s", asking_));
        break;
      }
      Step(end);
    }
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void Connect() {
    addrinfo hints = {}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(options_.host.c_str(), options_.port.c_str(), &hints, &found) != 0) {
      throw Error("{}: no such host", options_.host);
    }
    clients_.resize(options_.clients);
    for (size_t c = 0; c < clients_.size(); ++c) {
      Client& client = clients_[c];
      client.next_words = c;
      client.socket = socket(found->ai_family, SOCK_STREAM, 0);
      if (connect(client.socket, found->ai_addr, found->ai_addrlen) != 0) {
        throw Error("client {} cannot connect to {} port {}: {}", c, options_.host, options_.port,
                    SystemMessage());
      }
      const int yes = 1;
      setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      epoll_event event = {.events = EPOLLIN, .data = {.u64 = c}};
      epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket, &event);
    }
    freeaddrinfo(found);
  }

  void Fail(const std::string& what) {
    ++result_.errors;
    if (result_.first_error.empty()) result_.first_error = what;
  }

  // The connection's next question; it is short, so it fits the socket's buffer.
  void Ask(size_t c) {
    Client& client = clients_[c];
    const std::string& request = requests_[client.next_words++ % requests_.size()];
    client.asked = Clock::now();
    client.asking = true;
    ++asking_;
    if (send(client.socket, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      Lose(c, "a question could not be sent: " + SystemMessage());
    }
  }

  void Lose(size_t c, const std::string& what) {
    Client& client = clients_[c];
    Fail(what);
    if (client.asking) --asking_;
    client.asking = false;
    epoll_ctl(epoll_, EPOLL_CTL_DEL, client.socket, nullptr);
  }

  void Step(Clock::time_point end) {
    epoll_event events[64];
    int timeout = 100;
    if (!thinking_.empty()) {
      const auto left = thinking_.top().first - Clock::now();
      timeout = static_cast<int>(
          std::clamp<int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0, 100));
    }
    const int ready = epoll_wait(epoll_, events, 64, timeout);
    for (int e = 0; e < ready; ++e) Receive(events[e].data.u64, end);
    while (!thinking_.empty() && thinking_.top().first <= Clock::now()) {
      const size_t c = thinking_.top().second;
      thinking_.pop();
      if (Clock::now() < end) Ask(c);
    }
  }

  void Receive(size_t c, Clock::time_point end) {
    Client& client = clients_[c];
    char piece[65536];
    const ssize_t got = recv(client.socket, piece, sizeof(piece), MSG_DONTWAIT);
    if (got <= 0) return Lose(c, "the server ended a connection");
    client.came.append(piece, got);
    if (!Whole(client.came)) return;
    const std::chrono::duration<float, std::milli> took = Clock::now() - client.asked;
    client.asking = false;
    --asking_;
    if (client.came.starts_with("HTTP/1.1 200 ") &&
        client.came.find("\"hits\":[{") != std::string::npos) {
      result_.milliseconds.push_back(took.count());
    } else {
      Fail(client.came.substr(0, client.came.find('\r')) + " " +
           client.came.substr(client.came.size() - std::min<size_t>(client.came.size(), 200)));
    }
    client.came.clear();
    if (options_.think_ms > 0) {
      const std::chrono::duration<double, std::milli> pause(options_.think_ms);
      thinking_.emplace(Clock::now() + std::chrono::duration_cast<Clock::duration>(pause), c);
    } else if (Clock::now() < end) {
      Ask(c);
    }
  }

  static bool Whole(const std::string& came) {
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t head = came.find("\r\n\r\n"), length = came.find(kLength);
    if (head == std::string::npos || length > head) return false;
    size_t size = 0;
    std::from_chars(came.data() + length + kLength.size(), came.data() + head, size);
    return came.size() >= head + 4 + size;
  }

  const Options& options_;
  int epoll_;
  std::vector<std::string> requests_;
  std::vector<Client> clients_;
  int64_t asking_ = 0;
  using Thinking = std::pair<Clock::time_point, size_t>;
  std::priority_queue<Thinking, std::vector<Thinking>, std::greater<>> thinking_;
  Result result_;
};

// The least that so large a part of the sorted values does not exceed.
float Percentile(const std::vector<float>& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

bool Report(const Options& options, Result result) {
  std::ranges::sort(result.milliseconds);
  const auto& ms = result.milliseconds;
  const float p50 = Percentile(ms, 0.5), p90 = Percentile(ms, 0.9), p99 = Percentile(ms, 0.99);
  const float most = ms.empty() ? 0 : ms.back();
  const double throughput = static_cast<double>(ms.size()) / result.seconds;
  const bool good = result.errors == 0 && !ms.empty() && p99 < options.most_p99_ms;
  if (options.json) {
    fmt::print(
        "{{\"clients\":{},\"seconds\":{:.1f},\"think_ms\":{},\"requests\":{},\"errors\":{},"
        "\"per_second\":{:.0f},\"p50_ms\":{:.2f},\"p90_ms\":{:.2f},\"p99_ms\":{:.2f},"
        "\"max_ms\":{:.2f},\"good\":{}}}\n",
        options.clients, result.seconds, options.think_ms, ms.size(), result.errors, throughput,
        p50, p90, p99, most, good);
    return good;
  }
  fmt::print("{} clients, {:.1f} s, {} ms between answer and question\n", options.clients,
             result.seconds, options.think_ms);
  fmt::print("answers  {:>9}  {:.0f} a second\n", ms.size(), throughput);
  fmt::print("errors   {:>9}  {}\n", result.errors, result.first_error);
  fmt::print("time     p50 {:.1f} ms, p90 {:.1f} ms, p99 {:.1f} ms, max {:.1f} ms\n", p50, p90, p99,
             most);
  fmt::print("{}\n", good ? fmt::format("no error, and p99 under {} ms", options.most_p99_ms)
                          : "NOT as it should be");
  return good;
}

void ReadAddress(std::string_view address, Options& options) {
  if (address.starts_with("https:")) throw Error("{}: this bench speaks plain HTTP", address);
  if (const size_t scheme = address.find("://"); scheme != address.npos) {
    address.remove_prefix(scheme + 3);
  }
  address = address.substr(0, address.find('/'));
  const size_t colon = address.rfind(':');
  options.host = address.substr(0, colon);
  if (colon != address.npos) options.port = address.substr(colon + 1);
}

std::vector<std::string> Questions(const std::string& file) {
  std::vector<std::string> out = SplitLines(ReadFile(file));
  std::erase(out, "");
  if (out.empty()) throw Error("the file of words is empty; give a line for each question");
  return out;
}

Options Parse(int count, char** arguments) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&] {
      if (++i == count) throw Error("{} needs a value", name);
      return std::string(arguments[i]);
    };
    if (name == "--clients") {
      out.clients = std::stoi(value());
    } else if (name == "--seconds") {
      out.seconds = std::stod(value());
    } else if (name == "--think") {
      out.think_ms = std::stod(value());
    } else if (name == "--p99") {
      out.most_p99_ms = std::stod(value());
    } else if (name == "--words") {
      out.words = Questions(value());
    } else if (name == "--token") {
      out.token = value();
    } else if (name == "--json") {
      out.json = true;
    } else if (name.starts_with("--")) {
      throw Error("{}: known are --clients --seconds --think --p99 --words --token --json", name);
    } else {
      ReadAddress(name, out);
    }
  }
  return out;
}

int Main(int count, char** arguments) {
  try {
    const Options options = Parse(count, arguments);
    return Report(options, Load(options).Run()) ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    fmt::print(stderr, "serve_load: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace crossilo

int main(int count, char** arguments) { return crossilo::Main(count, arguments); }

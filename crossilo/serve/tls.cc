#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include "crossilo/base/error.h"
#include "crossilo/serve/connection.h"

namespace crossilo {
namespace {

constexpr size_t kPiece = 16384;
constexpr size_t kMostDrained = 64u << 20;

// What OpenSSL complained about first.
std::string Complaint() {
  char text[256] = "unknown";
  if (const auto code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return text;
}

// OpenSSL writes to the socket itself, and a client that is gone would end the
// process by a signal: threads that serve TLS have it blocked (server.cc).
class Secure : public Connection {
 public:
  Secure(SSL_CTX* context, int socket) : socket_(socket), ssl_(SSL_new(context)) {
    fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
    if (ssl_ != nullptr) SSL_set_fd(ssl_, socket_);
  }
  ~Secure() override {
    SSL_free(ssl_);
    close(socket_);
  }

  void Begin(Deadline deadline) override {
    if (ssl_ == nullptr) throw ConnectionLost();
    if (Repeat([&] { return SSL_accept(ssl_); }, deadline) != 1) throw ConnectionLost();
  }

  bool Read(std::string& out, Deadline deadline) override {
    const size_t before = out.size();
    out.resize(before + kPiece);
    int got = 0;
    try {
      got = Repeat([&] { return SSL_read(ssl_, out.data() + before, kPiece); }, deadline);
    } catch (const ConnectionLost&) {
      out.resize(before);
      throw;
    }
    out.resize(before + got);
    return got > 0;
  }

  void Write(std::string_view bytes, Deadline deadline) override {
    while (!bytes.empty()) {
      const int size = static_cast<int>(std::min<size_t>(bytes.size(), kPiece));
      const int sent = Repeat([&] { return SSL_write(ssl_, bytes.data(), size); }, deadline);
      if (sent <= 0) throw ConnectionLost();
      bytes.remove_prefix(sent);
    }
  }

  bool pending() const override { return SSL_has_pending(ssl_) == 1; }

  void Finish(Deadline deadline) override {
    SSL_shutdown(ssl_);
    std::string drained;
    for (size_t total = 0; total < kMostDrained; total += drained.size()) {
      drained.clear();
      if (!Read(drained, deadline)) return;
    }
  }

 private:
  // Runs an operation again once the socket allows it; 0 at the end of the
  // stream.
  template <typename Operation>
  int Repeat(const Operation& operation, Deadline deadline) {
    while (true) {
      ERR_clear_error();
      const int result = operation();
      if (result > 0) return result;
      const int reason = SSL_get_error(ssl_, result);
      if (reason == SSL_ERROR_ZERO_RETURN) return 0;
      const bool write = reason == SSL_ERROR_WANT_WRITE;
      if ((!write && reason != SSL_ERROR_WANT_READ) || !WaitFor(socket_, write, deadline)) {
        ERR_clear_error();
        throw ConnectionLost();
      }
    }
  }

  int socket_;
  SSL* ssl_;
};

}  // namespace

struct Tls::Context {
  SSL_CTX* ssl = nullptr;
  ~Context() { SSL_CTX_free(ssl); }
};

Tls::Tls(const std::string& certificate, const std::string& key)
    : context_(std::make_unique<Context>()) {
  SSL_CTX* ssl = context_->ssl = SSL_CTX_new(TLS_server_method());
  if (ssl == nullptr) throw Error("TLS cannot be set up: {}", Complaint());
  SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
  SSL_CTX_set_options(
      ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(ssl, certificate.c_str()) != 1) {
    throw Error("{}: not a certificate in PEM form: {}", certificate, Complaint());
  }
  if (SSL_CTX_use_PrivateKey_file(ssl, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw Error("{}: not the key of {} in PEM form: {}", key, certificate, Complaint());
  }
  // A key of another kind than the certificate's is taken until here.
  if (SSL_CTX_check_private_key(ssl) != 1) {
    throw Error("{}: not the key of {}: {}", key, certificate, Complaint());
  }
}

Tls::~Tls() = default;

std::unique_ptr<Connection> Tls::Connect(int socket) const {
  return std::make_unique<Secure>(context_->ssl, socket);
}

}  // namespace crossilo

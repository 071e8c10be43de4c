// What strangers send to an open port: too much, too slowly, half of it, or
// bytes that mean nothing.  The server refuses, and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/serve/test_client.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

using testing::HasSubstr;

OpenSite Five() {
  return [] { return SiteOf(FiveItems()); };
}

void ExpectServes(int port) { EXPECT_EQ(TestClient(port).Get("/healthz").status, 200); }

TEST(ServerAbuse, LongBodiesAreRefusedBeforeTheyAreRead) {
  TestServer server(Five());
  TestClient client(server.port());
  client.Send(
      "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
      "Content-Length: 16777217\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 413);
  EXPECT_TRUE(client.Ended());
  ExpectServes(server.port());
}

// A client that sends all of a body that is too long still gets its answer.
TEST(ServerAbuse, LongBodiesThatAreSentGetTheirAnswer) {
  TestServer server(Five());
  TestClient client(server.port());
  const Answer answer = client.Post("/api/search", "image/png", std::string(20u << 20, 'x'));
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.head, HasSubstr("Connection: close"));
}

TEST(ServerAbuse, ChunksHaveTheSameLimit) {
  TestServer server(Five());
  TestClient client(server.port());
  client.Send(
      "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100000\r\n" + std::string(1 << 20, 'x') + "\r\n";
  for (int i = 0; i < 20; ++i) client.Send(chunk);
  EXPECT_EQ(client.Receive().status, 413);
}

TEST(ServerAbuse, LongAddressesAndHeaders) {
  TestServer server(Five());
  EXPECT_EQ(TestClient(server.port()).Get("/api/search?words=" + std::string(100'000, 'a')).status,
            414);
  EXPECT_EQ(TestClient(server.port()).Get("/", "A: " + std::string(100'000, 'a') + "\r\n").status,
            431);
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "A: b\r\n";
  EXPECT_EQ(TestClient(server.port()).Get("/", many).status, 431);
  ExpectServes(server.port());
}

// The body of a refused request is not taken for the next one.
TEST(ServerAbuse, NoRequestHidesInABody) {
  TestServer server(Five());
  TestClient client(server.port());
  const std::string hidden = "GET /api/info HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.Send(fmt::format("POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
                          hidden.size()) +
              hidden);
  EXPECT_EQ(client.Receive().status, 404);
  EXPECT_TRUE(client.Ended());
}

TEST(ServerAbuse, SlowClientsAreLetGo) {
  TestServer server(Five(), {.slow_seconds = 0.05, .idle_seconds = 0.05});
  TestClient silent(server.port()), head(server.port()), body(server.port());
  head.Send("GET /healthz HT");
  body.Send(
      "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
      "Content-Length: 100\r\n\r\nabc");
  EXPECT_TRUE(silent.Ended());
  EXPECT_TRUE(head.Ended());
  EXPECT_TRUE(body.Ended());
  ExpectServes(server.port());
}

// One that sends a byte again and again is not given more time for it.
TEST(ServerAbuse, DrippingDoesNotHelp) {
  TestServer server(Five(), {.slow_seconds = 0.1});
  TestClient client(server.port());
  client.Send("GET /");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool ended = false;
  while (!ended && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ended = !client.Send("a");
  }
  EXPECT_TRUE(ended);
}

// One that does not take its answers fills the socket's buffers, no more.
TEST(ServerAbuse, ClientsThatDoNotReadAreLetGo) {
  TestServer server(Five(), {.slow_seconds = 0.05});
  TestClient client(server.port());
  std::string requests;
  for (int i = 0; i < 2'000; ++i)
    requests += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  // A server that kept answers without end would take requests without end.
  int sent = 0;
  while (sent < 1'000 && client.Send(requests)) ++sent;
  EXPECT_LT(sent, 1'000);
  ExpectServes(server.port());
}

TEST(ServerAbuse, HalvesAndGarbage) {
  TestServer server(Five());
  Random random(3, {}, "garbage");
  const std::string good =
      "POST /api/search?words=a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 13\r\n\r\n{\"words\":\"0\"}";
  for (int round = 0; round < 300; ++round) {
    TestClient client(server.port());
    std::string bytes;
    if (round % 3 == 0) {
      bytes = good.substr(0, random.Below(good.size()));
    } else if (round % 3 == 1) {
      bytes.resize(random.Below(2000));
      for (char& c : bytes) c = static_cast<char>(random.Below(256));
    } else {
      bytes = good;
      for (int i = 0; i < 4; ++i)
        bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    client.Send(bytes);
    if (round % 2 == 0) {
      shutdown(client.socket(), SHUT_WR);
      while (client.Receive().status != 0) {
      }
    }
  }
  ExpectServes(server.port());
  EXPECT_EQ(server.warnings(), "");
}

// A key and a certificate that it signs itself, for a day.
void WriteCertificate(const std::filesystem::path& certificate, const std::filesystem::path& key,
                      bool rsa = false) {
  EVP_PKEY* pair = rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
  X509* x509 = X509_new();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), 0);
  X509_gmtime_adj(X509_getm_notAfter(x509), 86400);
  X509_set_pubkey(x509, pair);
  X509_NAME* name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(x509, name);
  X509_sign(x509, pair, EVP_sha256());
  const auto write = [](const std::filesystem::path& path, const auto& put) {
    BIO* bio = BIO_new(BIO_s_mem());
    put(bio);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    WriteFile(path, std::string_view(data, static_cast<size_t>(size)));
    BIO_free(bio);
  };
  write(certificate, [&](BIO* bio) { PEM_write_bio_X509(bio, x509); });
  write(key, [&](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, pair, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_free(x509);
  EVP_PKEY_free(pair);
}

class ServerTls : public testing::Test {
 protected:
  ServerTls() {
    WriteCertificate(folder_ / "certificate.pem", folder_ / "key.pem");
    server_.emplace(Five(), ServerOptions{.certificate = folder_ / "certificate.pem",
                                          .key = folder_ / "key.pem",
                                          .token = "secret",
                                          .slow_seconds = 5});
  }

  // What the server answers to bytes sent with this version of TLS at most;
  // "" where no connection came about.
  std::string Ask(const std::string& bytes, int version = TLS1_3_VERSION) {
    TestClient client(server_->port());
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(context, version);
    SSL_CTX_set_security_level(context, 0);
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, client.socket());
    std::string out;
    if (SSL_connect(ssl) == 1) {
      SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()));
      char piece[4096];
      for (int got = 0; (got = SSL_read(ssl, piece, sizeof(piece))) > 0;) out.append(piece, got);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    return out;
  }

  TestFolder folder_{"tls"};
  std::optional<TestServer> server_;
};

constexpr const char* kAsk =
    "GET /api/info HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer "
    "secret\r\n\r\n";

TEST_F(ServerTls, Answers) {
  EXPECT_THAT(server_->address(), testing::StartsWith("https://"));
  EXPECT_THAT(Ask(kAsk), HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(Ask(kAsk, TLS1_2_VERSION), HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(Ask("GET /api/info HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("HTTP/1.1 401"));
}

TEST_F(ServerTls, AnswersManyOnOneConnection) {
  const std::string get = "GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string answers = Ask(get + get + kAsk);
  size_t count = 0;
  for (size_t at = 0; (at = answers.find("HTTP/1.1 200 OK", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, 3);
}

TEST_F(ServerTls, RefusesOldVersions) {
  EXPECT_EQ(Ask(kAsk, TLS1_1_VERSION), "");
  EXPECT_EQ(Ask(kAsk, TLS1_VERSION), "");
}

TEST_F(ServerTls, SurvivesWhatIsNoTls) {
  Random random(4, {}, "not tls");
  for (int round = 0; round < 50; ++round) {
    TestClient client(server_->port());
    std::string bytes(random.Below(500), ' ');
    for (char& c : bytes) c = static_cast<char>(random.Below(256));
    if (round % 2 == 0) bytes = "\x16\x03\x01" + bytes;
    client.Send(bytes);
  }
  EXPECT_EQ(TestClient(server_->port()).Get("/healthz").status, 0);
  EXPECT_THAT(Ask(kAsk), HasSubstr("HTTP/1.1 200 OK"));
}

TEST(ServerTlsFiles, AKeyOfAnotherCertificateIsRefused) {
  TestFolder folder("tls_files");
  WriteCertificate(folder / "a.pem", folder / "a.key");
  WriteCertificate(folder / "b.pem", folder / "b.key");
  EXPECT_THROW(TestServer(Five(), {.certificate = folder / "a.pem", .key = folder / "b.key"}),
               Error);
  WriteCertificate(folder / "c.pem", folder / "c.key", /*rsa=*/true);
  EXPECT_THROW(TestServer(Five(), {.certificate = folder / "c.pem", .key = folder / "a.key"}),
               Error);
}

}  // namespace
}  // namespace crossilo

#include "crossilo/serve/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

HttpHead Parse(const std::string& head) { return ParseHead(head + "\r\n"); }

// The status that a head is refused with; 200: it is not.
int Status(const std::string& head) {
  try {
    Parse(head);
  } catch (const HttpError& error) {
    return error.status;
  }
  return 200;
}

TEST(HttpHead, IsTakenApart) {
  const HttpHead head = Parse(
      "POST /api/search?words=a+b%20c&silo=%E7%8C%AB&silo=x&k&=1&&z=%zz HTTP/1.1\r\n"
      "Host: here\r\nContent-Length:  5 \r\nX-Two: a\r\nx-two: b\r\n");
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/api/search");
  EXPECT_THAT(head.query, ElementsAre(Pair("", "1"), Pair("k", ""), Pair("silo", "猫"),
                                      Pair("silo", "x"), Pair("words", "a b c"), Pair("z", "%zz")));
  EXPECT_EQ(head.length, 5);
  EXPECT_EQ(head.Header("x-two"), "a, b");
  EXPECT_TRUE(head.keep_alive);
  EXPECT_TRUE(head.has_body());
}

TEST(HttpHead, PathsAreDecodedOnce) {
  EXPECT_EQ(Parse("GET /a%2Fb+c%2520 HTTP/1.1\r\nHost: h\r\n").path, "/a/b+c%20");
  EXPECT_EQ(Parse("GET http://h:80/a?b=c HTTP/1.1\r\nHost: h\r\n").path, "/a");
  EXPECT_EQ(Parse("GET http://h HTTP/1.1\r\nHost: h\r\n").path, "/");
  EXPECT_EQ(Parse("GET http://h?a=/b HTTP/1.1\r\nHost: h\r\n").path, "/");
  EXPECT_EQ(Decoded("%", false), "%");
  EXPECT_EQ(Decoded("%4", false), "%4");
  EXPECT_EQ(Decoded("%41", false), "A");
}

TEST(HttpHead, WhoEndsTheConnection) {
  EXPECT_FALSE(Parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n").keep_alive);
  EXPECT_FALSE(Parse("GET / HTTP/1.0\r\n").keep_alive);
  EXPECT_TRUE(Parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n").keep_alive);
  EXPECT_FALSE(Parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: te , close\r\n").keep_alive);
  EXPECT_TRUE(Parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: unclosed\r\n").keep_alive);
}

TEST(HttpHead, RefusesWhatLeavesADoubt) {
  const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(Status(get), 200);
  EXPECT_EQ(Status("GET / HTTP/1.1\r\n"), 400);  // no host
  EXPECT_EQ(Status(get + "Host: h\r\n"), 400);
  EXPECT_EQ(Status(get + "Content-Length: 1\r\nContent-Length: 2\r\n"), 400);
  EXPECT_EQ(Status(get + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(Status("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(Status(get + "Transfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(Status(get + "Transfer-Encoding:\r\n"), 501);
  for (const char* length : {"", "-1", "+1", "1x", "0x1", "1 1"}) {
    EXPECT_EQ(Status(get + "Content-Length: " + length + "\r\n"), 400) << length;
  }
  EXPECT_EQ(Status(get + "Content-Length: 99999999999999999999999\r\n"), 413);
  EXPECT_EQ(Status(get + "Content-Encoding: gzip\r\n"), 415);
  EXPECT_EQ(Status(get + "A : b\r\n"), 400);
  EXPECT_EQ(Status(get + " folded\r\n"), 400);
  EXPECT_EQ(Status(get + "A: b\nC: d\r\n"), 400);
  EXPECT_EQ(Status(get + "nothing\r\n"), 400);
  EXPECT_EQ(Status("GET  HTTP/1.1\r\nHost: h\r\n"), 400);
  EXPECT_EQ(Status("GET\r\n"), 400);
  EXPECT_EQ(Status("GET a HTTP/1.1\r\nHost: h\r\n"), 400);
  EXPECT_EQ(Status("GET x?://y/healthz HTTP/1.1\r\nHost: h\r\n"), 400);
  EXPECT_EQ(Status("GET /a b HTTP/1.1\r\nHost: h\r\n"), 400);
  EXPECT_EQ(Status("GET /\x80 HTTP/1.1\r\nHost: h\r\n"), 400);
  EXPECT_EQ(Status("G(T / HTTP/1.1\r\nHost: h\r\n"), 400);
  EXPECT_EQ(Status("GET / HTTP/2.0\r\nHost: h\r\n"), 505);
  EXPECT_EQ(Status("GET / FTP/1.1\r\nHost: h\r\n"), 400);
}

TEST(HttpHead, HasLimits) {
  const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(Status("GET /" + std::string(8192, 'a') + " HTTP/1.1\r\nHost: h\r\n"), 414);
  std::string many = get;
  for (int i = 0; i < 99; ++i) many += "A: b\r\n";
  EXPECT_EQ(Status(many), 200);
  EXPECT_EQ(Status(many + "A: b\r\n"), 431);
  EXPECT_EQ(HeadLength("GET / HTTP/1.1\r\nHost: h\r\n\r\nrest"), 27);  // 16 + 9 + 2
  EXPECT_EQ(HeadLength("GET / HTTP/1.1\r\nHost: h\r\n"), 0);
  EXPECT_EQ(HeadLength(get + "A: " + std::string(30000, 'a')), 0);
  EXPECT_THROW(HeadLength(get + "A: " + std::string(40000, 'a')), HttpError);
  EXPECT_THROW(HeadLength(get + "A: " + std::string(40000, 'a') + "\r\n\r\n"), HttpError);
  EXPECT_THROW(HeadLength(std::string(9000, 'G')), HttpError);
}

// Every way to cut a chunked body into two pieces gives the same.
TEST(HttpChunks, AreJoinedWhereverTheyAreCut) {
  const std::string bytes = "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nnext";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    ChunkReader chunks(100);
    std::string body, came = bytes.substr(0, cut);
    came.erase(0, chunks.Read(came, body));
    came += bytes.substr(cut);
    came.erase(0, chunks.Read(came, body));
    EXPECT_TRUE(chunks.done()) << cut;
    EXPECT_EQ(body, "abc0123456789") << cut;
    EXPECT_EQ(came, "next") << cut;
  }
}

int ChunkStatus(const std::string& bytes, size_t most = 10) {
  ChunkReader chunks(most);
  std::string body;
  try {
    chunks.Read(bytes, body);
  } catch (const HttpError& error) {
    return error.status;
  }
  EXPECT_LE(body.size(), most);
  return chunks.done() ? 200 : 100;
}

TEST(HttpChunks, AreRefused) {
  EXPECT_EQ(ChunkStatus("a\r\n0123456789\r\n0\r\n\r\n"), 200);
  EXPECT_EQ(ChunkStatus("a\r\n01234"), 100);
  EXPECT_EQ(ChunkStatus("b\r\n"), 413);
  EXPECT_EQ(ChunkStatus("6\r\n012345\r\n5\r\n"), 413);
  EXPECT_EQ(ChunkStatus("ffffffffffffffff\r\n"), 413);
  EXPECT_EQ(ChunkStatus("fffffffffffffffffff\r\n"), 413);
  EXPECT_EQ(ChunkStatus("-1\r\n"), 400);
  EXPECT_EQ(ChunkStatus("x\r\n"), 400);
  EXPECT_EQ(ChunkStatus("\r\n"), 400);
  EXPECT_EQ(ChunkStatus("1\r\nab\r\n"), 400);
  EXPECT_EQ(ChunkStatus(std::string(300, '1')), 400);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 1000; ++i) trailers += "A: bcdefgh\r\n";
  EXPECT_EQ(ChunkStatus(trailers), 431);
}

// What one reader takes for the end of a line, another may not.
TEST(HttpChunks, LinesHaveOneEnd) {
  EXPECT_EQ(ChunkStatus("1 ;a=b\r\nx\r\n0\r\nA: b\r\n\r\n"), 200);
  for (const char* size : {"1;a\nb", "1;a\rb", "1 zz", "1\x7f"}) {
    EXPECT_EQ(ChunkStatus(std::string(size) + "\r\nx\r\n0\r\n\r\n"), 400) << size;
  }
  EXPECT_EQ(ChunkStatus("0\r\nX\nGET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(ChunkStatus("0\r\nGET / HTTP/1.1\r\n\r\n"), 400);
}

TEST(HttpResponse, IsWhole) {
  const ApiResponse response = {.status = 404, .body = "{}", .headers = {{"A", "b"}}};
  const std::string bytes = WriteHttp(response, {.method = "GET"}, true);
  EXPECT_THAT(bytes, testing::StartsWith("HTTP/1.1 404 Not Found\r\nDate: "));
  EXPECT_THAT(bytes, HasSubstr(" GMT\r\n"));
  EXPECT_THAT(bytes, HasSubstr("\r\nContent-Length: 2\r\n"));
  EXPECT_THAT(bytes, testing::EndsWith("\r\nA: b\r\n\r\n{}"));
  EXPECT_EQ(bytes.find("Connection"), std::string::npos);
  const std::string head = WriteHttp(response, {.method = "HEAD"}, false);
  EXPECT_THAT(head, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(head, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
}

// Changed and random bytes are parsed or refused, and nothing else happens.
TEST(HttpFuzz, NeverAnythingButARefusal) {
  Random random(11, {}, "http");
  const std::string good =
      "POST /api/search?words=a%20b&k=3 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"
      "Transfer-Encoding: chunked\r\nContent-Type: image/png\r\n\r\n"
      "4\r\nabcd\r\n0\r\n\r\n";
  int parsed = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (uint64_t changes = 1 + random.Below(6); changes > 0; --changes) {
      const size_t at = random.Below(bytes.size());
      if (random.Below(3) == 0) {
        bytes.erase(at, random.Below(8));
      } else if (random.Below(2) == 0) {
        bytes.insert(at, std::string(random.Below(4), "\r\n :%"[random.Below(5)]));
      } else {
        bytes[at] = static_cast<char>(random.Below(256));
      }
      if (bytes.empty()) bytes = " ";
    }
    try {
      const size_t length = HeadLength(bytes);
      const HttpHead head = ParseHead(std::string_view(bytes).substr(0, length));
      ChunkReader chunks(1000);
      std::string body;
      chunks.Read(std::string_view(bytes).substr(length), body);
      ++parsed;
    } catch (const HttpError& error) {
      ASSERT_GE(error.status, 400);
      ++refused;
    }
  }
  EXPECT_GT(parsed, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace crossilo

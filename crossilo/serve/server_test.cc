#include "crossilo/serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <nlohmann/json.hpp>

#include "crossilo/serve/test_client.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

OpenSite Five(int generation = 1) {
  return [=] { return SiteOf(FiveItems(), generation); };
}

TEST(Server, AnswersOnOneConnection) {
  TestServer server(Five());
  EXPECT_THAT(server.address(), testing::MatchesRegex("http://127.0.0.1:[0-9]+/"));
  TestClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const Answer answer = client.Get("/api/search?words=0000&k=2");
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(Json::parse(answer.body).at("hits").at(1).at("id"), "11");
    EXPECT_THAT(answer.head, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  }
  const Answer picture = client.Post("/api/search?k=1", "image/png", PictureOfCode(0x000f));
  EXPECT_EQ(Json::parse(picture.body).at("hits").at(0).at("id"), "12");
  EXPECT_EQ(client.Get("/nothing").status, 404);
  EXPECT_THAT(client.Get("/").head, HasSubstr("text/html"));
  EXPECT_EQ(client.Get("/api/search?words=caf%E9").status, 400);
}

TEST(Server, HeadHasNoBody) {
  TestServer server(Five());
  TestClient client(server.port());
  client.Send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.Receive(true).head, HasSubstr("Content-Length: 30\r\n"));
  EXPECT_EQ(client.Get("/healthz").body, R"({"status":"ok","generation":1})");  // 30 bytes
}

TEST(Server, RequestsMayStandOneBehindTheOther) {
  TestServer server(Five());
  TestClient client(server.port());
  const std::string one = "GET /api/items/10 HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string two =
      "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"wor\r\n9\r\nds\":\"0\"}\n\r\n0\r\n\r\n";
  client.Send(one + two + one);
  EXPECT_EQ(client.Receive().status, 200);
  EXPECT_EQ(Json::parse(client.Receive().body).at("hits").size(), 4);
  EXPECT_EQ(client.Receive().status, 200);
}

TEST(Server, ClosesWhenAsked) {
  TestServer server(Five());
  TestClient client(server.port());
  const Answer answer = client.Get("/healthz", "Connection: close\r\n");
  EXPECT_THAT(answer.head, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.Ended());
}

TEST(Server, ContinuesWhenExpected) {
  TestServer server(Five());
  TestClient client(server.port());
  client.Send(
      "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 13\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 100);
  client.Send(R"({"words":"0"})");
  EXPECT_EQ(client.Receive().status, 200);
}

TEST(Server, AsksForTheTokenBeforeTheBody) {
  TestServer server(Five(), {.token = "secret"});
  TestClient client(server.port());
  EXPECT_EQ(client.Get("/api/info").status, 401);
  EXPECT_EQ(client.Get("/api/info", "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(client.Get("/api/info", "Authorization: Bearer secret\r\n").status, 200);
  EXPECT_EQ(client.Get("/api/info", "Authorization: bEARER secret\r\n").status, 200);
  EXPECT_EQ(client.Get("/").status, 200);
  client.Send(
      "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
      "Content-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 401);  // though the body never came
  EXPECT_TRUE(client.Ended());
}

// A page of a stranger's whose name means 127.0.0.1 has its own name as Host.
TEST(Server, AnswersOnlyUnderItsOwnName) {
  TestServer open(Five());
  for (const char* host :
       {"localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "127.1.2.3"}) {
    TestClient client(open.port());
    client.Send(fmt::format("GET /api/info HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    EXPECT_EQ(client.Receive().status, 200) << host;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"}) {
    TestClient client(open.port());
    client.Send(fmt::format("GET /api/info HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    EXPECT_EQ(client.Receive().status, 421) << host;
  }
  TestServer closed(Five(), {.token = "secret"});
  TestClient client(closed.port());
  client.Send(
      "GET /api/info HTTP/1.1\r\nHost: search.example\r\n"
      "Authorization: Bearer secret\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 200);
}

TEST(Server, FiftyClientsAtATime) {
  TestServer server(Five());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < 50; ++c) {
    threads.emplace_back([&] {
      TestClient client(server.port());
      for (int i = 0; i < 20; ++i) good += client.Get("/api/search?words=00ff").status == 200;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 1000);
}

// Eight ask at the same time, two are served: the others have their turn.
TEST(Server, ConnectionsBeyondTheLimitWait) {
  struct CountingCoder : HexCoder {
    CodedQuery Words(const std::string& words) const override {
      const int now = ++*inside;
      for (int seen = *most; now > seen && !most->compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that they would meet
      --*inside;
      return HexCoder::Words(words);
    }
    std::atomic<int>*inside, *most;
  };
  std::atomic<int> inside = 0, most = 0, good = 0;
  auto coder = std::make_unique<CountingCoder>();
  coder->inside = &inside;
  coder->most = &most;
  auto site =
      std::make_shared<Site>("five", 1, std::make_unique<MemoryStore>(SchemaOf(), FiveItems()),
                             std::move(coder), std::vector<std::filesystem::path>());
  TestServer server([=] { return site; }, {.connections = 2});
  std::vector<std::thread> threads;
  for (int c = 0; c < 8; ++c) {
    threads.emplace_back([&] {
      TestClient client(server.port());
      good += client.Get("/api/search?words=0", "Connection: close\r\n").status == 200;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(most, 2);
}

// Nobody leaves by himself: the one that was idle longest is sent away.
TEST(Server, IdleConnectionsMakeRoom) {
  TestServer server(Five(), {.connections = 2});
  TestClient first(server.port()), second(server.port());
  ASSERT_EQ(first.Get("/healthz").status, 200);
  ASSERT_EQ(second.Get("/healthz").status, 200);
  TestClient third(server.port());
  EXPECT_EQ(third.Get("/healthz").status, 200);
  EXPECT_TRUE(first.Ended());
}

TEST(Server, TakesInNewItems) {
  auto store = std::make_unique<MemoryStore>(SchemaOf(), FiveItems());
  store->OnRefresh([](auto& items) {
    items[1] = {.id = 1, .facts = "{}", .codes = {Code16(0), {}}, .vectors = {{}, {}}};
  });
  auto site = std::make_shared<Site>("five", 1, std::move(store), std::make_unique<HexCoder>(),
                                     std::vector<std::filesystem::path>());
  TestServer server([=] { return site; }, {.refresh_seconds = 0.01});
  TestClient client(server.port());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < deadline) {
    status = client.Get("/api/items/1").status;
  }
  EXPECT_EQ(status, 200);
}

// Clients ask all the while; every answer is whole and of one generation, and
// generations only go forward.
TEST(Server, SwitchesGenerationsUnderWay) {
  std::atomic<int> current = 1;
  TestServer server([&] { return SiteOf(FiveItems(), current); },
                    {.refresh_seconds = 0.005, .current = [&] { return current.load(); }});
  std::atomic<bool> stop = false;
  std::atomic<int> bad = 0, asked = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < 4; ++c) {
    threads.emplace_back([&] {
      TestClient client(server.port());
      int last = 0;
      while (!stop) {
        const Answer answer = client.Get("/api/search?words=0");
        const int generation =
            answer.status == 200 ? Json::parse(answer.body).at("generation").get<int>() : -1;
        bad += generation < last;
        last = generation;
        ++asked;
      }
    });
  }
  TestClient client(server.port());
  for (int generation = 2; generation <= 6; ++generation) {
    current = generation;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (Json::parse(client.Get("/healthz").body).at("generation") != generation &&
           std::chrono::steady_clock::now() < deadline) {
    }
    EXPECT_EQ(Json::parse(client.Get("/healthz").body).at("generation"), generation);
  }
  // A slow machine takes longer to ask so often.
  const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (asked <= 20 && std::chrono::steady_clock::now() < enough) std::this_thread::yield();
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bad, 0);
  EXPECT_GT(asked, 20);
}

TEST(Server, AGenerationThatDoesNotOpenLeavesTheOldOne) {
  std::atomic<int> current = 1, tries = 0;
  TestServer server(
      [&]() -> std::shared_ptr<Site> {
        if (current == 2) {
          ++tries;
          throw Error("generation 2 is damaged");
        }
        return SiteOf(FiveItems(), current);
      },
      {.refresh_seconds = 0.005, .current = [&] { return current.load(); }});
  current = 2;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (tries < 3 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  TestClient client(server.port());
  EXPECT_EQ(Json::parse(client.Get("/healthz").body).at("generation"), 1);
  server.Stop();
  EXPECT_EQ(server.warnings(), "generation 2 is damaged\n");  // once
}

// The file is written over in place, then put back.
TEST(Server, AFileThatIsNoneIsNotReadOn) {
  std::atomic<bool> damaged = false;
  const auto open = [&]() -> std::shared_ptr<Site> {
    if (damaged) throw Error("five.cxi: is cut off");
    auto store = std::make_unique<MemoryStore>(SchemaOf(), FiveItems());
    store->OnRefresh([&](auto&) {
      if (damaged) throw StaleStore("five.cxi: is no longer an index");
    });
    return std::make_shared<Site>("five", 1, std::move(store), std::make_unique<HexCoder>(),
                                  std::vector<std::filesystem::path>());
  };
  TestServer server(open, {.refresh_seconds = 0.005, .current = [] { return 1; }});
  TestClient client(server.port());
  const auto becomes = [&](int status) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (client.Get("/api/search?words=0").status != status) {
      if (std::chrono::steady_clock::now() > deadline) return false;
    }
    return true;
  };
  EXPECT_TRUE(becomes(200));
  damaged = true;
  EXPECT_TRUE(becomes(503));
  damaged = false;
  EXPECT_TRUE(becomes(200));
}

TEST(Server, StopLetsTheRequestUnderWayEnd) {
  struct SlowCoder : HexCoder {
    CodedQuery Words(const std::string& words) const override {
      entered->set_value();
      leave.wait();
      return HexCoder::Words(words);
    }
    std::promise<void>* entered;
    std::shared_future<void> leave;
  };
  std::promise<void> entered, leave;
  auto coder = std::make_unique<SlowCoder>();
  coder->entered = &entered;
  coder->leave = leave.get_future().share();
  auto site =
      std::make_shared<Site>("five", 1, std::make_unique<MemoryStore>(SchemaOf(), FiveItems()),
                             std::move(coder), std::vector<std::filesystem::path>());
  TestServer server([=] { return site; });
  TestClient client(server.port()), idle(server.port());
  ASSERT_EQ(idle.Get("/healthz").status, 200);
  client.Send("GET /api/search?words=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  entered.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server.Stop(); });
  EXPECT_TRUE(idle.Ended());
  leave.set_value();
  EXPECT_EQ(client.Receive().status, 200);
  stopped.wait();
  EXPECT_FALSE(TestClient(server.port()).connected());
}

TEST(Server, IsNotExposedByAccident) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]"}) {
    EXPECT_NO_THROW(CheckExposure({.host = host})) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1.nip.io",
                           "1270.0.0.1", "::ffff:127.0.0.1"}) {
    EXPECT_THROW(CheckExposure({.host = host}), Error) << host;
    EXPECT_THROW(CheckExposure({.host = host, .token = "t"}), Error) << host;
    EXPECT_THROW(CheckExposure({.host = host, .certificate = "c", .key = "k"}), Error) << host;
    EXPECT_NO_THROW(CheckExposure({.host = host, .certificate = "c", .key = "k", .token = "t"}));
  }
  EXPECT_THROW(CheckExposure({.certificate = "c"}), Error);
}

TEST(Server, SaysWhyItDoesNotStart) {
  TestServer server(Five());
  const std::atomic<bool> stop = true;
  const auto message = [&](const ServerOptions& options, const OpenSite& open) -> std::string {
    try {
      Serve(open, options, nullptr, nullptr, stop);
    } catch (const Error& error) {
      return error.what();
    }
    return "it started";
  };
  EXPECT_THAT(message({.port = server.port()}, Five()), HasSubstr("choose another port"));
  EXPECT_THAT(message({.port = 70000}, Five()), HasSubstr("70000"));
  EXPECT_THAT(message({.port = 0, .certificate = "/missing.pem", .key = "/missing.pem"}, Five()),
              HasSubstr("/missing.pem"));
  EXPECT_THAT(message({.port = 0}, [] { return nullptr; }), HasSubstr("does not open"));
}

}  // namespace
}  // namespace crossilo

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "crossilo/serve/page_collection.h"
#include "crossilo/serve/server.h"
#include "crossilo/serve/webdriver.h"

namespace crossilo {

// A server of this process, from construction to destruction.
class RunningServer {
 public:
  RunningServer(const OpenSite& open, const ServerOptions& options);
  ~RunningServer();

  const std::string& address() const { return address_; }  // "http://127.0.0.1:4711/"
  int port() const;

 private:
  std::atomic<bool> stop_ = false;
  std::string address_;
  std::thread thread_;
};

// The page in a real browser, before a real server with a small collection
// (see page_collection.h).
class PageTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;  // fails on whatever the console has to say

  // Opens a page of the server, such as "/?words=cat", and waits for its hits,
  // welcome or trouble.
  void Visit(const std::string& path);
  // The caption, distance and silo of a hit as they are seen.
  std::string Caption(int hit);
  std::string Distance(int hit);
  std::string Silo(int hit);
  int Hits();
  std::string Text(const std::string& element);
  bool Visible(const std::string& element);
  void AwaitHits(int count);
  void AwaitText(const std::string& element, const std::string& part);
  void Resize(int width, int height);
  // Whether the console may tell of refused and failed requests.
  void ExpectRefusals() { refusals_ = true; }

  static Browser& browser() { return *browser_; }
  static OpenSite Collection();
  static std::filesystem::path folder();  // see MakeAnimals
  static std::unique_ptr<RunningServer> server_;
  static AnimalGate gate_;

 private:
  static std::unique_ptr<Browser> browser_;
  static std::string no_browser_;
  bool refusals_ = false;
};

}  // namespace crossilo

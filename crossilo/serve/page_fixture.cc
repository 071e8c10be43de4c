#include "crossilo/serve/page_fixture.h"

#include <unistd.h>

#include <future>

#include "crossilo/base/error.h"

namespace crossilo {

std::unique_ptr<RunningServer> PageTest::server_;
std::unique_ptr<Browser> PageTest::browser_;
std::string PageTest::no_browser_;
AnimalGate PageTest::gate_;

RunningServer::RunningServer(const OpenSite& open, const ServerOptions& options) {
  std::promise<std::string> ready;
  auto address = ready.get_future();
  thread_ = std::thread([this, open, options, ready = std::move(ready)]() mutable {
    bool told = false;
    try {
      Serve(
          open, options,
          [&](const std::string& at) {
            told = true;
            ready.set_value(at);
          },
          [](const std::string& message) { ADD_FAILURE() << message; }, stop_);
    } catch (...) {
      if (!told) ready.set_exception(std::current_exception());
    }
  });
  try {
    address_ = address.get();
  } catch (...) {
    thread_.join();
    throw;
  }
  if (!address_.ends_with('/')) address_ += '/';
}

RunningServer::~RunningServer() {
  stop_ = true;
  thread_.join();
}

int RunningServer::port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }

std::filesystem::path PageTest::folder() {
  return std::filesystem::temp_directory_path() / fmt::format("crossilo_page_{}", getpid());
}

OpenSite PageTest::Collection() { return OpenAnimals(folder(), &gate_); }

void PageTest::SetUpTestSuite() {
  try {
    browser_ = std::make_unique<Browser>();
  } catch (const std::exception& error) {
    no_browser_ = error.what();
    return;
  }
  MakeAnimals(folder());
}

void PageTest::TearDownTestSuite() {
  browser_.reset();
  server_.reset();
  std::filesystem::remove_all(folder());
}

void PageTest::SetUp() {
  if (!browser_) FAIL() << no_browser_;
  gate_.open = false;
  if (!server_) server_ = std::make_unique<RunningServer>(Collection(), ServerOptions{.port = 0});
  browser_->Open("about:blank");
  Resize(1280, 800);
  browser_->Console();
}

void PageTest::TearDown() {
  gate_.open = true;
  gate_.open.notify_all();
  if (!browser_) return;
  for (const std::string& said : browser_->Console()) {
    if (!refusals_ || !said.starts_with("network: ")) ADD_FAILURE() << "on the console: " << said;
  }
}

void PageTest::Visit(const std::string& path) {
  browser_->Open(server_->address() + path.substr(1));
  browser_->Await(
      "document.querySelector('.hit') || ['welcome', 'trouble', 'gate'].some("
      "(id) => document.getElementById(id)?.hidden === false)");
}

std::string PageTest::Text(const std::string& element) {
  return browser_
      ->Eval("document.querySelector(arguments[0])?.innerText ?? ''",
             nlohmann::json::array({element}))
      .get<std::string>();
}

static std::string OfHit(int hit, const char* part) {
  return fmt::format(".hit:nth-child({}) {}", hit + 1, part);
}

std::string PageTest::Caption(int hit) { return Text(OfHit(hit, ".caption")); }
std::string PageTest::Distance(int hit) { return Text(OfHit(hit, ".distance")); }
std::string PageTest::Silo(int hit) { return Text(OfHit(hit, ".silo")); }

int PageTest::Hits() {
  return browser_->Eval("document.querySelectorAll('.hit').length").get<int>();
}

bool PageTest::Visible(const std::string& element) {
  return browser_
      ->Eval("document.querySelector(arguments[0])?.checkVisibility() ?? false",
             nlohmann::json::array({element}))
      .get<bool>();
}

void PageTest::AwaitHits(int count) {
  browser_->Await(
      fmt::format("document.querySelectorAll('.hit').length === {} && "
                  "!document.querySelector('[aria-busy]')",
                  count));
}

void PageTest::AwaitText(const std::string& element, const std::string& part) {
  browser_->Await(fmt::format("document.querySelector({})?.innerText.includes({})",
                              nlohmann::json(element).dump(), nlohmann::json(part).dump()));
}

void PageTest::Resize(int width, int height) {
  browser_->Command(
      "Emulation.setDeviceMetricsOverride",
      {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

}  // namespace crossilo

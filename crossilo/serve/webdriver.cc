#include "crossilo/serve/webdriver.h"

#include <chrono>
#include <thread>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

using nlohmann::json;

constexpr char kElement[] = "element-6066-11e4-a52e-4f735466cecf";  // W3C WebDriver, 12.1
constexpr auto kPatience = std::chrono::seconds(30);

}  // namespace

Browser::Browser() {
  json options = {{"args",
                   {"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--disable-crash-reporter", "--window-size=1280,800"}}};
  json wanted = {{"browserName", "chrome"},
                 {"goog:chromeOptions", options},
                 {"goog:loggingPrefs", {{"browser", "ALL"}}},
                 {"timeouts", {{"script", 30000}, {"pageLoad", 30000}}}};
  json begun = Call("POST", "/session", {{"capabilities", {{"alwaysMatch", wanted}}}});
  session_ = "/session/" + begun.at("sessionId").get<std::string>();
}

Browser::~Browser() {
  try {
    Session("DELETE", "");
  } catch (const std::exception&) {
    // The driver's end is the browser's as well.
  }
}

json Browser::Call(const std::string& method, const std::string& path, const json& body) {
  json answer = json::parse(driver_.Ask(method, path, method == "POST" ? body.dump() : ""));
  json value = answer.at("value");
  if (value.is_object() && value.contains("error")) {
    throw Error("{} {}: {}: {}", method, path, value["error"].get<std::string>(),
                value.value("message", "").substr(0, 500));
  }
  return value;
}

json Browser::Session(const std::string& method, const std::string& path, const json& body) {
  return Call(method, session_ + path, body);
}

std::string Browser::Find(const std::string& element) {
  return Session("POST", "/element", {{"using", "css selector"}, {"value", element}})
      .at(kElement)
      .get<std::string>();
}

void Browser::Open(const std::string& address) { Session("POST", "/url", {{"url", address}}); }
void Browser::Back() { Session("POST", "/back"); }
void Browser::Forward() { Session("POST", "/forward"); }

json Browser::Eval(const std::string& expression, const json& arguments) {
  return Session("POST", "/execute/sync",
                 {{"script", "return (" + expression + ")"}, {"args", arguments}});
}

void Browser::Await(const std::string& expression) {
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (Eval("Boolean(" + expression + ")") != true) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw Error("waited in vain for {}; the page shows: {}", expression,
                  Eval("document.body.innerText").get<std::string>().substr(0, 1500));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void Browser::Click(const std::string& element) {
  Session("POST", "/element/" + Find(element) + "/click");
}

void Browser::Type(const std::string& element, const std::string& text) {
  Session("POST", "/element/" + Find(element) + "/value", {{"text", text}});
}

void Browser::Press(const std::string& keys) {
  json actions = json::array();
  for (size_t i = 0; i < keys.size();) {
    size_t end = i + 1;
    while (end < keys.size() && (keys[end] & 0xc0) == 0x80) ++end;  // the rest of a UTF-8 character
    std::string key = keys.substr(i, end - i);
    actions.push_back({{"type", "keyDown"}, {"value", key}});
    actions.push_back({{"type", "keyUp"}, {"value", key}});
    i = end;
  }
  json keyboard = {{"type", "key"}, {"id", "keyboard"}, {"actions", actions}};
  Session("POST", "/actions", {{"actions", json::array({keyboard})}});
}

std::string Browser::Role(const std::string& element) {
  return Session("GET", "/element/" + Find(element) + "/computedrole").get<std::string>();
}

std::string Browser::Label(const std::string& element) {
  return Session("GET", "/element/" + Find(element) + "/computedlabel").get<std::string>();
}

json Browser::Command(const std::string& name, const json& parameters) {
  return Session("POST", "/goog/cdp/execute", {{"cmd", name}, {"params", parameters}});
}

std::vector<std::string> Browser::Console() {
  std::vector<std::string> said;
  for (const json& one : Session("POST", "/se/log", {{"type", "browser"}})) {
    said.push_back(one.value("source", "") + ": " + one.value("message", ""));
  }
  return said;
}

}  // namespace crossilo

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crossilo/serve/chromedriver.h"

namespace crossilo {

// Keys that are not characters, for Press and Type (W3C WebDriver, 17.4.2).
namespace keys {
inline constexpr char kTab[] = "\uE004";
inline constexpr char kEnter[] = "\uE007";
inline constexpr char kEscape[] = "\uE00C";
inline constexpr char kDown[] = "\uE015";
inline constexpr char kRight[] = "\uE014";
inline constexpr char kUp[] = "\uE013";
}  // namespace keys

// A headless Chromium of its own, driven through chromedriver; for tests only.
// Everything throws Error with what the driver said.  Elements are named by
// CSS selectors, and the first that fits is meant.  One thread.
class Browser {
 public:
  // Throws Error naming the packages to install where there is none.
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void Open(const std::string& address);  // returns once the page is loaded
  void Back();
  void Forward();

  // What a JavaScript expression is; `arguments[i]` are the arguments.
  nlohmann::json Eval(const std::string& expression,
                      const nlohmann::json& arguments = nlohmann::json::array());
  // Until the expression is true.  Throws Error with the page's text where that
  // takes longer than anything here can.
  void Await(const std::string& expression);

  void Click(const std::string& element);
  void Type(const std::string& element, const std::string& text);  // or a file's path
  void Press(const std::string& keys);                             // wherever the focus is

  // What a screen reader is told.
  std::string Role(const std::string& element);
  std::string Label(const std::string& element);

  // A command of the DevTools protocol.
  nlohmann::json Command(const std::string& name, const nlohmann::json& parameters);

  // What was written to the console since the last call, as "source: message".
  std::vector<std::string> Console();

 private:
  nlohmann::json Call(const std::string& method, const std::string& path,
                      const nlohmann::json& body = nlohmann::json::object());
  nlohmann::json Session(const std::string& method, const std::string& path,
                         const nlohmann::json& body = nlohmann::json::object());
  std::string Find(const std::string& element);

  Chromedriver driver_;
  std::string session_;
};

}  // namespace crossilo

#include "crossilo/serve/facts.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 16;

// Hears of the parts of an object one after the other, keeps the known ones and
// writes the others down again: every hit of every answer passes through here,
// and a tree of all parts would cost three times as much.
class Reader {
 public:
  Facts Take() {
    facts_.other += '}';
    return std::move(facts_);
  }

  bool key(std::string& name) {
    if (depth_ == 1) {
      Choose(name);
      first_ = facts_.other.size() == 1;
    }
    if (known()) return true;
    Separate();
    AppendJson(facts_.other, name);
    facts_.other += ':';
    first_ = true;
    return true;
  }

  bool string(std::string& value) {
    if (depth_ == 1 && target_ != nullptr) *target_ = std::move(value);
    return Write([&](std::string& out) { AppendJson(out, value); });
  }
  bool number_unsigned(uint64_t value) {
    if (depth_ == 1 && source_ && value <= std::numeric_limits<int>::max()) {
      facts_.source = static_cast<int>(value);
    }
    return Write([&](std::string& out) { out += std::to_string(value); });
  }
  bool number_integer(int64_t value) {
    return Write([&](std::string& out) { out += std::to_string(value); });
  }
  bool number_float(double, const std::string& as_written) {
    return Write([&](std::string& out) { out += as_written; });
  }
  bool boolean(bool value) {
    return Write([&](std::string& out) { out += value ? "true" : "false"; });
  }
  bool null() {
    return Write([&](std::string& out) { out += "null"; });
  }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(size_t) { return depth_ == 0 ? Enter() : Open('{'); }
  bool end_object() { return depth_ == 1 ? Leave() : Close('}'); }
  bool start_array(size_t) { return depth_ > 0 && Open('['); }
  bool end_array() { return Close(']'); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  // Where the value of this key goes; of one that stands there twice the last
  // counts.
  void Choose(const std::string& name) {
    target_ = name == "name"      ? &facts_.name
              : name == "caption" ? &facts_.caption
              : name == "picture" ? &facts_.picture
                                  : nullptr;
    source_ = name == "source";
    if (target_ != nullptr) target_->clear();
    if (source_) facts_.source = -1;
  }

  // Whether we are in the value of a key that is not passed on.
  bool known() const { return target_ != nullptr || source_; }

  void Separate() {
    if (!first_) facts_.other += ',';
    first_ = false;
  }
  template <typename Put>
  bool Write(const Put& put) {
    if (depth_ == 0) return false;  // not an object
    if (known()) return true;
    Separate();
    put(facts_.other);
    return true;
  }

  bool Enter() {
    ++depth_;
    return true;
  }
  bool Leave() {
    --depth_;
    return true;
  }
  bool Open(char bracket) {
    if (++depth_ > kDeepest) return false;
    if (known()) return true;
    Separate();
    facts_.other += bracket;
    first_ = true;
    return true;
  }
  bool Close(char bracket) {
    --depth_;
    if (!known()) facts_.other += bracket;
    first_ = false;
    return true;
  }

  Facts facts_ = {.other = "{"};
  std::string* target_ = nullptr;
  bool source_ = false;
  bool first_ = true;  // no comma before what comes next
  int depth_ = 0;
};

}  // namespace

Facts ReadFacts(std::string_view json) {
  Reader reader;
  return Json::sax_parse(json, &reader) ? reader.Take() : Facts{.other = "{}"};
}

std::string CaptionOf(std::string_view json) { return ReadFacts(json).caption; }

}  // namespace crossilo

#include "crossilo/base/config.h"

#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/nearest.h"

namespace crossilo {
namespace {

struct Asked {
  std::string path;   // "partition.beta"
  std::string value;  // as a TOML literal
  std::string help;
};

std::string Literal(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

// The library writes lines between ''', so quotes among them would end the text,
// and a line end that begins it would not be read back: those are escaped.
std::string Literal(const std::string& text) {
  const bool lines = text.find('\n') != std::string::npos;
  const bool escape = text.starts_with('\n') || (lines && text.find('\'') != std::string::npos);
  const toml::value<std::string> value(text);
  std::ostringstream out;
  if (escape) {
    out << toml::toml_formatter(value, toml::format_flags::allow_unicode_strings);
  } else {
    out << value;
  }
  return out.str();
}

template <typename T>
std::string Literal(const T& value) {
  std::ostringstream out;
  out << toml::value<T>(value);
  return out.str();
}

// The shortest digits that read back to the same number.
std::string Literal(double value) {
  std::string digits = fmt::format("{}", value);
  if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
  return digits;
}

std::string Literal(const std::vector<int64_t>& values) {
  toml::array array;
  for (int64_t value : values) array.push_back(value);
  std::ostringstream out;
  out << array;
  return out.str();
}

// The paths of all values below `table`.
void Leaves(const toml::table& table, const std::string& prefix, std::vector<std::string>& out) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      Leaves(*inner, path + ".", out);
    } else {
      out.push_back(path);
    }
  }
}

}  // namespace

struct Config::Document {
  toml::table root;
  std::string origin;
  std::vector<Asked> asked;

  // The node at a dotted path, or null; refuses a table where a value belongs.
  const toml::node* At(const std::string& path) const { return root.at_path(path).node(); }

  template <typename T>
  T Remember(const std::string& path, const T& value, std::string_view help) {
    for (const Asked& entry : asked) {
      if (entry.path == path) return value;
    }
    asked.push_back({path, Literal(value), std::string(help)});
    return value;
  }

  [[noreturn]] void Refuse(const std::string& path, const std::string& wanted) const {
    const toml::node* node = At(path);
    throw Error("{}: {} must be {}, not {}", origin, path, wanted,
                node == nullptr ? "absent" : Literal(*node));
  }
};

Config::Config() : Config(std::make_shared<Document>(), "") {}

Config::Config(std::shared_ptr<Document> document, std::string prefix)
    : document_(std::move(document)), prefix_(std::move(prefix)) {}

Config Config::Parse(std::string_view text, const std::string& origin) {
  auto document = std::make_shared<Document>();
  document->origin = origin;
  try {
    document->root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error("{}: line {}: {}", origin, error.source().begin.line,
                std::string(error.description()));
  }
  return Config(std::move(document), "");
}

Config Config::Load(const std::filesystem::path& path) {
  return Parse(ReadFile(path), path.string());
}

void Config::Set(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw Error("--set {}: write it as key=value, for example training.rounds=10", assignment);
  }
  const std::string path(assignment.substr(0, equals));
  const std::string value(assignment.substr(equals + 1));
  toml::table parsed;
  try {
    parsed = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    parsed.insert("value", value);
  }
  toml::table* table = &document_->root;
  size_t start = 0;
  for (size_t dot; (dot = path.find('.', start)) != std::string::npos; start = dot + 1) {
    const std::string name = path.substr(start, dot - start);
    if (!table->contains(name)) table->insert(name, toml::table{});
    table = table->get_as<toml::table>(name);
    if (table == nullptr) throw Error("--set {}: '{}' is a value, not a table", assignment, name);
  }
  table->insert_or_assign(path.substr(start), *parsed.get("value"));
}

void Config::SetDefault(std::string_view assignment) {
  const std::string path(assignment.substr(0, assignment.find('=')));
  if (document_->At(path) == nullptr) Set(assignment);
}

Config Config::Table(std::string_view name) const {
  const std::string path = prefix_ + std::string(name);
  const toml::node* node = document_->At(path);
  if (node != nullptr && !node->is_table()) {
    throw Error("{}: {} must be a table [{}], not {}", document_->origin, path, path,
                Literal(*node));
  }
  return Config(document_, path + ".");
}

bool Config::Has(std::string_view key) const {
  return document_->At(prefix_ + std::string(key)) != nullptr;
}

int64_t Config::Int(std::string_view key, int64_t fallback, std::string_view help, int64_t min,
                    int64_t max) const {
  const std::string path = prefix_ + std::string(key);
  int64_t value = fallback;
  if (const toml::node* node = document_->At(path)) {
    const auto given = node->value_exact<int64_t>();
    if (!given) document_->Refuse(path, "a whole number");
    value = *given;
    if (value < min) document_->Refuse(path, fmt::format("at least {}", min));
    if (value > max) document_->Refuse(path, fmt::format("at most {}", max));
  }
  return document_->Remember(path, value, help);
}

double Config::Real(std::string_view key, double fallback, std::string_view help, double min,
                    double max) const {
  const std::string path = prefix_ + std::string(key);
  double value = fallback;
  if (const toml::node* node = document_->At(path)) {
    const auto given = node->value<double>();
    if (!given || !node->is_number()) document_->Refuse(path, "a number");
    value = *given;
    if (!std::isfinite(value)) document_->Refuse(path, "a finite number");
    if (value < min) document_->Refuse(path, fmt::format("at least {:g}", min));
    if (value > max) document_->Refuse(path, fmt::format("at most {:g}", max));
  }
  return document_->Remember(path, value, help);
}

bool Config::Flag(std::string_view key, bool fallback, std::string_view help) const {
  const std::string path = prefix_ + std::string(key);
  bool value = fallback;
  if (const toml::node* node = document_->At(path)) {
    const auto given = node->value_exact<bool>();
    if (!given) document_->Refuse(path, "true or false");
    value = *given;
  }
  return document_->Remember(path, value, help);
}

std::string Config::Text(std::string_view key, std::string_view fallback,
                         std::string_view help) const {
  const std::string path = prefix_ + std::string(key);
  std::string value(fallback);
  if (const toml::node* node = document_->At(path)) {
    const auto given = node->value_exact<std::string>();
    if (!given) document_->Refuse(path, "a text in quotes");
    value = *given;
  }
  return document_->Remember(path, value, help);
}

std::string Config::Choice(std::string_view key, std::string_view fallback,
                           const std::vector<std::string>& choices, std::string_view help) const {
  std::string value = Text(key, fallback, help);
  for (const std::string& choice : choices) {
    if (value == choice) return value;
  }
  throw Error("{}: {}{} is '{}', which is not known{}", document_->origin, prefix_, key, value,
              Suggestion(value, choices));
}

std::vector<int64_t> Config::Ints(std::string_view key, std::vector<int64_t> fallback,
                                  std::string_view help) const {
  const std::string path = prefix_ + std::string(key);
  if (const toml::node* node = document_->At(path)) {
    const toml::array* array = node->as_array();
    if (array == nullptr) document_->Refuse(path, "a list of whole numbers");
    fallback.clear();
    for (const toml::node& element : *array) {
      const auto given = element.value_exact<int64_t>();
      if (!given) document_->Refuse(path, "a list of whole numbers");
      fallback.push_back(*given);
    }
  }
  return document_->Remember(path, fallback, help);
}

void Config::Finish() const {
  std::vector<std::string> known;
  for (const Asked& entry : document_->asked) known.push_back(entry.path);
  std::vector<std::string> given;
  Leaves(document_->root, "", given);
  for (const std::string& path : given) {
    if (std::find(known.begin(), known.end(), path) == known.end()) {
      throw Error("{}: unknown key '{}'{}", document_->origin, path, Suggestion(path, known));
    }
  }
}

std::string Config::Resolved() const {
  // Keys of the document itself must precede the first table header.
  std::vector<std::string> tables = {""};
  std::map<std::string, std::string> lines;
  for (const Asked& entry : document_->asked) {
    if (!entry.path.starts_with(prefix_)) continue;
    const size_t dot = entry.path.rfind('.');
    const std::string table = dot == std::string::npos ? "" : entry.path.substr(0, dot);
    const std::string key = dot == std::string::npos ? entry.path : entry.path.substr(dot + 1);
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
    lines[table] += fmt::format("# {}\n{} = {}\n", entry.help, key, entry.value);
  }
  std::string out;
  for (const std::string& table : tables) {
    if (!table.empty()) out += fmt::format("\n[{}]\n", table);
    out += lines[table];
  }
  return out;
}

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// Settings from a TOML file.  Whoever needs a key asks for it with its default
// and one sentence on what it means; what was asked is what is known, so
// Finish() can refuse a key nobody asked for and name the nearest one, and
// Resolved() can write every key with its value and its sentence.
//
//   Config config = Config::Load("experiment.toml");
//   config.Set("partition.beta=0.1");
//   Config table = config.Table("partition");
//   options.beta = table.Real("beta", 0.5, "Dirichlet concentration; > 0", 1e-6);
//   config.Finish();
//
// A Config is a handle: copies and Table() share one document.  Every error
// names the file, the key and what would be accepted.
class Config {
 public:
  Config();  // of nothing
  // `origin` stands in error messages where a file's path would.
  static Config Parse(std::string_view toml, const std::string& origin);
  static Config Load(const std::filesystem::path& path);

  // "table.key=value"; a value that is no TOML literal is taken as a string.
  void Set(std::string_view assignment);
  // The same, unless the key stands there already: a preset's settings.
  void SetDefault(std::string_view assignment);

  // The table below this one; an empty one where the file has none.
  Config Table(std::string_view name) const;
  bool Has(std::string_view key) const;

  int64_t Int(std::string_view key, int64_t fallback, std::string_view help,
              int64_t min = std::numeric_limits<int64_t>::min(),
              int64_t max = std::numeric_limits<int64_t>::max()) const;
  double Real(std::string_view key, double fallback, std::string_view help,
              double min = -std::numeric_limits<double>::infinity(),
              double max = std::numeric_limits<double>::infinity()) const;
  bool Flag(std::string_view key, bool fallback, std::string_view help) const;
  std::string Text(std::string_view key, std::string_view fallback, std::string_view help) const;
  // A text that must be one of `choices`.
  std::string Choice(std::string_view key, std::string_view fallback,
                     const std::vector<std::string>& choices, std::string_view help) const;
  std::vector<int64_t> Ints(std::string_view key, std::vector<int64_t> fallback,
                            std::string_view help) const;

  // Throws on the first key of the whole document that nobody asked for.
  void Finish() const;

  // TOML that reads back to the same settings: every key of this table that was
  // asked for, each under its sentence.  Equal settings give equal bytes.
  std::string Resolved() const;

 private:
  struct Document;
  explicit Config(std::shared_ptr<Document> document, std::string prefix);

  std::shared_ptr<Document> document_;
  std::string prefix_;  // "" or "partition."
};

}  // namespace crossilo

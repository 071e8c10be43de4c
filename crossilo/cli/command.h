#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>

#include "crossilo/base/error.h"

namespace crossilo {

// Checks that an option is a whole number of at least `least`.
inline CLI::Validator AtLeast(int64_t least) {
  const auto check = [least](const std::string& text) -> std::string {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [after, wrong] = std::from_chars(text.data(), end, number);
    if (wrong == std::errc{} && after == end && number >= least) return "";
    return fmt::format("must be a whole number of at least {}", least);
  };
  return CLI::Validator(check, "");
}

// Each adds one command with its options, its help and an example, and runs it
// when it was typed.  What goes wrong is thrown; main() says it.
void AddData(CLI::App& app);
void AddSimulate(CLI::App& app);
void AddCompare(CLI::App& app);
void AddEncode(CLI::App& app);
void AddEvaluate(CLI::App& app);
void AddIndex(CLI::App& app);
void AddSearch(CLI::App& app);
void AddServe(CLI::App& app);
void AddMethods(CLI::App& app);
void AddModels(CLI::App& app);

}  // namespace crossilo

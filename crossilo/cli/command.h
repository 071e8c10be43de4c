#pragma once

#include <CLI/CLI.hpp>

namespace crossilo {

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

#pragma once

#include <CLI/CLI.hpp>

namespace crossilo {

// `crossilo index import` and `export`.
void AddIndexExchange(CLI::App& index);

}  // namespace crossilo

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "crossilo/index/generations.h"

// The parts of `crossilo index`.

namespace crossilo {

void AddIndexExchange(CLI::App& index);  // import and export
void AddIndexInfo(CLI::App& index);
void AddIndexSwitch(CLI::App& index);

void ShowInfo(const std::string& collection, bool verify, bool json);

// "1 item", "2 items"
std::string Counted(int64_t count);

// For a collection; null for a file that stands alone, which has its store's own
// lock, and for a folder that is something else, in which we leave nothing.
std::unique_ptr<WriterLock> LockCollection(const std::filesystem::path& collection);

}  // namespace crossilo

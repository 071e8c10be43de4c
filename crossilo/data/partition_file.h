#pragma once

#include <cstdint>
#include <filesystem>

#include "crossilo/data/partition.h"

namespace crossilo {

// Writes who holds what for other programs to read: silo.npy, int32, for each
// of the dataset's samples the silo that trains on it or -1, and partition.toml
// with the silos' names and the settings and seed that made them.
void WritePartition(const std::filesystem::path& folder, int64_t samples,
                    const Partition& partition, const PartitionOptions& options, uint64_t seed);

}  // namespace crossilo

#pragma once

#include <vector>

#include "crossilo/data/partition.h"

namespace crossilo {

// The kinds of dealing that go by class, each in a file of its own.  They are
// given the rows of every class, ascending, and return the rows of every silo
// in any order; a silo may come out empty, which Deal refuses.
using ClassRows = std::vector<Rows>;

std::vector<Rows> DealDirichlet(const ClassRows& of_class, const PartitionOptions& options,
                                uint64_t seed);
std::vector<Rows> DealNoniidEqual(const ClassRows& of_class, const PartitionOptions& options,
                                  uint64_t seed);
std::vector<Rows> DealNoniidUnequal(const ClassRows& of_class, const PartitionOptions& options,
                                    uint64_t seed);

}  // namespace crossilo

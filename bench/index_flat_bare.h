// The floor under a flat scan: every word of every code loaded, XORed with the
// query and its bits counted, and the counts added up so that they are needed.
// Blocks, threads and queries that share loads as the flat index has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace crossilo {

// "avx512", or "scalar" elsewhere, which has the processor's popcount of words.
const char* BareKernel();

// Returns the sum of all distances.
uint64_t BareBatch(std::span<const std::byte> queries, std::span<const std::byte> codes,
                   size_t bytes, int threads);
uint64_t BareSingle(std::span<const std::byte> query, std::span<const std::byte> codes,
                    size_t bytes, int threads);

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "crossilo/codes/packed_codes.h"

namespace crossilo {

struct Hit {
  int64_t id = 0;    // row of the database
  int distance = 0;  // bits that differ

  bool operator==(const Hit&) const = default;
};

// Codes that can be searched.
class Index {
 public:
  virtual ~Index() = default;

  virtual int64_t size() const = 0;
  virtual int bits() const = 0;

  // The k nearest codes, or all where there are fewer: nearest first, equally
  // near ones by id.  `code` is one code as PackedCodes holds it.  Throws
  // Error where it has another number of words or k is negative.  Safe to
  // call from many threads.
  virtual std::vector<Hit> Search(std::span<const uint64_t> code, int64_t k) const = 0;
};

// Compares with every code: exact, and fast enough for millions.
std::unique_ptr<Index> MakeFlatIndex(PackedCodes codes);

struct CosineHit {
  int64_t id = 0;
  float cosine = 0;

  bool operator==(const CosineHit&) const = default;
};

// For real-valued models: the k rows of length dim with the largest cosine to
// `query`, largest first, equal ones by id.  A zero row has cosine 0.  Throws
// Error where the sizes do not fit or a value is not finite.
std::vector<CosineHit> TopCosine(std::span<const float> query, std::span<const float> database,
                                 int64_t dim, int64_t k);

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "crossilo/tensors/torch.h"

// For this room only.
namespace crossilo {

// A row of numbers, most of them 0: column -> value.
using SparseRow = std::map<int64_t, double>;

// The linear map X' (X X' + ridge I)^-1 Y from rows x to rows y that has the
// least square error plus `ridge` times its own square; made for fewer samples
// than columns of X.  Sums are in double precision and in a fixed order.
class RidgeRegression {
 public:
  // x[i] and y[i] belong together; columns are below x_columns and y_columns.
  RidgeRegression(const std::vector<SparseRow>& x, int64_t x_columns,
                  const std::vector<SparseRow>& y, int64_t y_columns, double ridge);

  // What one unit of a column of x adds to y.
  std::vector<double> Row(int64_t x_column) const;

 private:
  std::vector<std::vector<std::pair<int64_t, double>>> column_;  // of X: sample, value
  torch::Tensor dual_;                                           // (X X' + ridge I)^-1 Y
};

}  // namespace crossilo

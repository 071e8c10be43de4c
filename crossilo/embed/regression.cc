#include "crossilo/embed/regression.h"

namespace crossilo {

RidgeRegression::RidgeRegression(const std::vector<SparseRow>& x, int64_t x_columns,
                                 const std::vector<SparseRow>& y, int64_t y_columns, double ridge)
    : column_(x_columns) {
  const auto n = static_cast<int64_t>(x.size());
  torch::Tensor target = torch::zeros({n, y_columns}, torch::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    for (const auto& [column, value] : x[i]) column_[column].emplace_back(i, value);
    double* row = target.data_ptr<double>() + i * y_columns;
    for (const auto& [column, value] : y[i]) row[column] = value;
  }
  torch::Tensor kernel = ridge * torch::eye(n, torch::kDouble);
  for (const auto& column : column_) {
    for (const auto& [i, a] : column) {
      double* row = kernel.data_ptr<double>() + i * n;
      for (const auto& [j, b] : column) row[j] += a * b;
    }
  }
  dual_ = torch::cholesky_solve(target, at::linalg_cholesky(kernel)).contiguous();
}

std::vector<double> RidgeRegression::Row(int64_t x_column) const {
  std::vector<double> row(dual_.size(1));
  for (const auto& [sample, value] : column_[x_column]) {
    const double* dual = dual_.data_ptr<double>() + sample * dual_.size(1);
    for (size_t k = 0; k < row.size(); ++k) row[k] += value * dual[k];
  }
  return row;
}

}  // namespace crossilo

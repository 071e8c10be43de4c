#include "crossilo/codes/dot_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "crossilo/base/random.h"
#include "crossilo/codes/cosine.h"

namespace crossilo {
namespace {

using testing::ElementsAre;

TEST(FastDotProducts, OfPickedRowsWorkedByHand) {
  const std::vector<float> queries = {1, 2, 3, 0, -1, 1};
  const std::vector<float> rows = {1, 0, 0, 0, 1, 0, 9, 9, 9, 2, 2, 2};
  const std::vector<uint32_t> picked = {3, 0, 1};
  for (const DotKernel& kernel : AvailableDotKernels()) {
    std::vector<float> out(6);
    FastDotProductsBy(kernel, queries.data(), 2, rows.data(), picked, 3, out.data());
    // 2 + 4 + 6, 1, 2; then -2 + 2, 0, -1.
    EXPECT_THAT(out, ElementsAre(12, 1, 2, 0, 0, -1)) << kernel.name;
    FastDotProductsBy(kernel, &queries[3], 1, rows.data(), picked, 3, out.data());
    EXPECT_THAT(std::vector<float>(out.begin(), out.begin() + 3), ElementsAre(0, 0, -1));
    FastDotProductsBy(kernel, queries.data(), 0, rows.data(), picked, 3, nullptr);
    FastDotProductsBy(kernel, queries.data(), 2, rows.data(), {}, 3, nullptr);
  }
}

TEST(FastDotProducts, EveryKernelStaysWithinTheError) {
  Random random(1, {}, "dot products");
  for (size_t dim : {1, 3, 4, 7, 8, 15, 16, 17, 64, 100, 1000}) {
    for (size_t count : {1, 2, 4, 5, 9}) {
      const size_t n = 11;
      std::vector<float> queries(count * dim), rows(n * dim);
      for (float& v : queries) v = static_cast<float>(random.Normal());
      for (float& v : rows) v = static_cast<float>(random.Normal());
      queries = UnitRows(queries, static_cast<int64_t>(dim));
      rows = UnitRows(rows, static_cast<int64_t>(dim));
      const std::vector<uint32_t> picked = {10, 0, 3, 4, 5, 6, 1};
      for (const DotKernel& kernel : AvailableDotKernels()) {
        std::vector<float> out(count * picked.size());
        FastDotProductsBy(kernel, queries.data(), count, rows.data(), picked, dim, out.data());
        for (size_t q = 0; q < count; ++q) {
          for (size_t i = 0; i < picked.size(); ++i) {
            const double expected = Cosine(&queries[q * dim], &rows[picked[i] * dim], dim);
            EXPECT_NEAR(out[q * picked.size() + i], expected, DotProductError(dim))
                << kernel.name << " " << dim << " " << count;
          }
        }
      }
    }
  }
}

TEST(FastDotProducts, TheErrorGrowsWithTheLength) {
  EXPECT_GT(DotProductError(1), std::ldexp(1, -24));
  EXPECT_LT(DotProductError(64), 1e-5);
  EXPECT_LT(DotProductError(64), DotProductError(1024));
  EXPECT_TRUE(std::isinf(DotProductError(size_t{1} << 26)));  // 2^24 roundings of 2^-24
}

}  // namespace
}  // namespace crossilo

// Whether a generator is fit for use, and whether it repeats its samples.

#include "crossilo/methods/wgan_health.h"

#include <cmath>

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

double MeanLength(const torch::Tensor& rows) { return rows.norm(2, 1).mean().item<double>(); }

double Spread(const torch::Tensor& rows) {
  return rows.size(0) < 2 ? 0 : torch::pdist(rows).mean().item<double>();
}

double Median(const torch::Tensor& values) {
  return values.numel() == 0 ? 0 : torch::quantile(values.to(torch::kDouble), 0.5).item<double>();
}

// The nearest of `real` to every row; a row whose number stands in `self` does
// not count for it.  Found by products, block by block, and measured exactly.
torch::Tensor DistanceToReal(const torch::Tensor& rows, const torch::Tensor& real,
                             const torch::Tensor& self) {
  constexpr int64_t kBlock = 4096;
  torch::Tensor least, nearest;
  for (int64_t at = 0; at < real.size(0); at += kBlock) {
    const torch::Tensor block = real.slice(0, at, at + kBlock);
    torch::Tensor d = torch::addmm(block.square().sum(1), rows, block.t(), 1, -2);
    if (self.defined()) {
      const torch::Tensor numbers = torch::arange(at, at + block.size(0), self.options());
      d.masked_fill_(self.unsqueeze(1).eq(numbers), INFINITY);
    }
    const auto [value, index] = d.min(1);
    const torch::Tensor better = least.defined() ? value.lt(least) : torch::ones_like(index).gt(0);
    nearest = least.defined() ? torch::where(better, index + at, nearest) : index + at;
    least = least.defined() ? torch::minimum(least, value) : value;
  }
  return (rows - real.index_select(0, nearest)).norm(2, 1);
}

}  // namespace

GeneratorHealth HealthOf(const torch::Tensor& generated, const torch::Tensor& real,
                         double collapse) {
  constexpr double kFactor = 10;
  if (generated.size(0) < 2 || real.size(0) < 2) return GeneratorHealth::kTooFew;
  if (!torch::isfinite(generated).all().item<bool>()) return GeneratorHealth::kDiverged;
  const double length = MeanLength(generated), usual = MeanLength(real);
  if (length > kFactor * usual && usual > 0) return GeneratorHealth::kDiverged;
  if (length < usual / kFactor) return GeneratorHealth::kCollapsed;
  return Spread(generated) < collapse * Spread(real) ? GeneratorHealth::kCollapsed
                                                     : GeneratorHealth::kFine;
}

int64_t CollapseCount::After(GeneratorHealth health, const torch::Tensor& generated) {
  constexpr double kMore = 1.1;  // by chance two draws of rows differ less
  if (health != GeneratorHealth::kCollapsed) {
    *this = {};
    return 0;
  }
  const double length = MeanLength(generated), spread = Spread(generated);
  if (length > kMore * length_ || spread > kMore * spread_) {
    *this = {};
    length_ = length;
    spread_ = spread;
  }
  return ++count_;
}

TensorMap CollapseCount::State() const {
  return {{"count", torch::tensor(count_)},
          {"length", torch::tensor(length_, torch::kDouble)},
          {"spread", torch::tensor(spread_, torch::kDouble)}};
}

void CollapseCount::SetState(const TensorMap& state) {
  count_ = state.at("count").item<int64_t>();
  length_ = state.at("length").item<double>();
  spread_ = state.at("spread").item<double>();
}

Memorisation MeasureMemorisation(const torch::Tensor& generated, const torch::Tensor& real,
                                 int64_t count, Random& random) {
  torch::NoGradGuard no_grad;
  const torch::Tensor self =
      RandomPermutation(real.size(0), random).slice(0, 0, count).to(real.device());
  return {Median(DistanceToReal(generated, real, {})),
          Median(DistanceToReal(real.index_select(0, self), real, self))};
}

}  // namespace crossilo

#include "crossilo/methods/memory.h"

#include "crossilo/tensors/kmeans.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

// Rows 0, 1, ..., again from 0 where there are fewer than wanted.
torch::Tensor Repeated(const torch::Tensor& rows, int64_t wanted) {
  const torch::Tensor index = torch::arange(wanted).remainder(rows.size(0));
  return rows.index_select(0, index);
}

torch::Tensor Centres(const torch::Tensor& points, int64_t clusters, Random& random) {
  const KMeansOptions options{.clusters = clusters, .distance = Distance::kCosine, .fewer = true};
  return Repeated(Cluster(points, options, random).centres, clusters);
}

// Where k-means centres live: rows of zeros say that there was nothing.
torch::Tensor NonZero(const torch::Tensor& rows) {
  return rows.index_select(0, rows.abs().sum(1).nonzero().squeeze(1));
}

}  // namespace

torch::Tensor LocalMemory(const torch::Tensor& image, const torch::Tensor& text,
                          const torch::Tensor& labels, const MemoryOptions& options,
                          Random& random) {
  const int64_t C = options.classes;
  if (image.size(0) == 0) return torch::zeros({C, image.size(1)});
  const torch::Tensor H = UnitRows((image + text) / 2);
  if (options.aligned) return UnitRows(labels.t().mm(H));  // sums point where means do
  if (options.form == "fused") return Centres(H, C, random);
  const torch::Tensor P_x = Centres(UnitRows(image), C, random);
  const torch::Tensor P_y = Centres(UnitRows(text), C, random);
  return Centres(torch::cat({P_x, P_y}), C, random);
}

torch::Tensor GlobalMemory(const std::vector<torch::Tensor>& P_k, const MemoryOptions& options,
                           Random& random) {
  if (options.aligned) return UnitRows(torch::stack(P_k).sum(0));
  const torch::Tensor bank = NonZero(torch::cat(P_k));
  if (bank.size(0) == 0) return torch::zeros_like(P_k.front());
  return Centres(UnitRows(bank), options.classes, random);
}

std::vector<torch::Tensor> SameMeaning(const torch::Tensor& P_g,
                                       const std::vector<torch::Tensor>& P_k,
                                       const MemoryOptions& options, Random& random) {
  const int64_t C = options.classes;
  if (options.aligned) return std::vector<torch::Tensor>(P_k.size(), torch::eye(C));
  std::vector<torch::Tensor> all = {P_g};
  all.insert(all.end(), P_k.begin(), P_k.end());
  const KMeansOptions k{.clusters = C, .distance = Distance::kCosine, .fewer = true};
  const torch::Tensor cluster = Cluster(torch::cat(all), k, random).assignment;
  const torch::Tensor of_global = cluster.slice(0, 0, C).unsqueeze(1);
  std::vector<torch::Tensor> S;
  for (size_t i = 1; i < all.size(); ++i) {
    const auto at = static_cast<int64_t>(i) * C;
    S.push_back(of_global.eq(cluster.slice(0, at, at + C).unsqueeze(0)).to(torch::kFloat));
  }
  return S;
}

double MemorySimilarity(const torch::Tensor& P_g, const torch::Tensor& P_k,
                        const torch::Tensor& S_k) {
  const torch::Tensor th = 0.5 * P_g.mm(P_k.t());
  return (torch::softplus(th) - S_k * th).sum().item<double>();
}

}  // namespace crossilo

// The hub's pairs in FedWGAN; the paper stands in fedwgan.cc.
//
//   C^G = k-means of all C^k, M clusters;  theta = mean of the silos', by n_k
//   mu n_k pairs F_g of every G_k;  Eq. 13 keeps: 1 - max_m cos(F_g, C_m^G) <= theta

#include "crossilo/methods/fedwgan_pairs.h"

#include <cmath>

#include "crossilo/methods/synthesis_upload.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// What can be used of the messages, by silo.
std::map<int, SynthesisUpload> Usable(const std::map<int, TensorMap>& sent, const HashModel& model,
                                      const PairShape& shape, const FedWganOptions& o) {
  const ModelShape& s = model.shape();
  const int64_t width = o.space == PairSpace::kCodes ? model.code_dims() : shape.dims();
  const int64_t labels = model.needs_labels() ? s.classes + s.coarse_classes : 0;
  std::map<int, SynthesisUpload> usable;
  for (const auto& [silo, message] : sent) {
    auto upload = SynthesisUpload::From(message, shape, o.wgan, width, labels);
    if (upload) usable.emplace(silo, std::move(*upload));
  }
  return usable;
}

double Theta(const std::map<int, SynthesisUpload>& uploads, const FedWganOptions& o) {
  if (o.fixed) return o.theta;
  double theta = 0, samples = 0;
  for (const auto& [silo, upload] : uploads) {
    theta += upload.samples * upload.theta;
    samples += upload.samples;
  }
  return samples > 0 ? theta / samples : 0;
}

// mu n_k pairs of a silo's generator, those that are finite.
torch::Tensor Generated(const SynthesisUpload& upload, const PairShape& shape,
                        const FedWganOptions& o, torch::Device device, Random random) {
  torch::NoGradGuard no_grad;
  const int64_t wanted = std::lround(o.mu * upload.samples);
  const torch::Tensor noise = RandomNormal({wanted, o.wgan.noise}, random).to(device);
  const torch::Tensor F_g = Generate(Copy(upload.generator, device), shape, noise);
  return F_g.index_select(0, torch::isfinite(F_g).all(1).nonzero().squeeze(1));
}

// The labels of the nearest prototype.  `labels`: of the C^k that `global` are
// the centres of.
TensorMap LabelsOf(const torch::Tensor& fused, const KMeans& global, const torch::Tensor& labels,
                   const ModelShape& s) {
  const torch::Tensor C = global.centres.to(fused.device());
  const torch::Tensor nearest = NearestPrototype(fused, C).to(torch::kCPU);
  const torch::Tensor means = ClusterLabels(labels, global.assignment, C.size(0));
  TensorMap found = {
      {"labels", CommonLabels(means.slice(1, 0, s.classes)).index_select(0, nearest)}};
  if (s.coarse_classes > 0) {
    found["coarse"] = CommonLabels(means.slice(1, s.classes)).index_select(0, nearest);
  }
  return found;
}

}  // namespace

GeneratedPairs GeneratePairs(const std::map<int, TensorMap>& sent, const HashModel& model,
                             const PairShape& shape, const FedWganOptions& o,
                             const std::function<Random(const char*, int)>& stream) {
  torch::NoGradGuard no_grad;
  const auto uploads = Usable(sent, model, shape, o);
  std::vector<torch::Tensor> C_k, labels, made;
  for (const auto& [silo, upload] : uploads) {
    C_k.push_back(upload.prototypes);
    if (upload.labels.defined()) labels.push_back(upload.labels);
    if (upload.generator.empty()) continue;
    made.push_back(Generated(upload, shape, o, DeviceOf(model), stream("generated pairs", silo)));
  }
  const double theta = Theta(uploads, o);
  GeneratedPairs pairs;
  pairs.facts = {{"generators_used", static_cast<double>(made.size())}, {"theta", theta}};
  if (made.empty()) return pairs;

  const KMeans C_G = PairPrototypes(torch::cat(C_k), o.prototypes, stream("global prototypes", 0));
  const torch::Tensor F_g = torch::cat(made), fused = ViewsOf(F_g, model, o.space).fused;
  const torch::Tensor distances = DistanceToNearest(fused, C_G.centres.to(fused.device()));
  const torch::Tensor rows = WithinTheta(distances, o.filter ? theta : INFINITY);
  const PairViews kept = Halves(F_g.index_select(0, rows), shape.image_dims);
  pairs.kept = {{"image", kept.image}, {"text", kept.text}};
  if (!labels.empty()) {
    pairs.kept.merge(LabelsOf(fused.index_select(0, rows), C_G, torch::cat(labels), model.shape()));
  }
  pairs.kept = Copy(pairs.kept);
  pairs.facts["synthesised"] = static_cast<double>(F_g.size(0));
  pairs.facts["kept"] = static_cast<double>(pairs.size());
  return pairs;
}

}  // namespace crossilo

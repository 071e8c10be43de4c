// The prototypes and the filter of FedWGAN.
//
// Zhang et al., AAAI 2025.  Eq. 13 prints min Sim <= theta, which would keep
// outliers; its text asks for the least distance, so d = 1 - cos.  No loss
// reaches the "learnable" theta: it is a quantile of real samples' distances.

#include "crossilo/methods/synthesis.h"

#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

torch::Device DeviceOf(const HashModel& model) {
  return model.parameters().begin()->second.device();
}

PairShape PairShapeOf(const HashModel& model, const std::string& output) {
  const ModelShape& s = model.shape();
  PairShape shape{s.image_dims, s.text_dims};
  const bool scaled = model.input() != InputStage::kRaw;
  if (output == "unit" || (output == "auto" && scaled)) shape.output = GeneratorOutput::kUnit;
  if (output == "tanh") shape.output = GeneratorOutput::kTanh;
  return shape;
}

torch::Tensor PairFeatures(const HashModel& model, const Batch& all) {
  torch::NoGradGuard no_grad;
  return torch::cat(
      {model.Input(Modality::kImage, all.image), model.Input(Modality::kText, all.text)}, 1);
}

PairViews Halves(const torch::Tensor& F, int64_t image_dims) {
  return {F.slice(1, 0, image_dims), F.slice(1, image_dims), F};
}

PairViews ViewsOf(const torch::Tensor& F, const HashModel& model, PairSpace space) {
  const PairViews halves = Halves(F, model.shape().image_dims);
  if (space == PairSpace::kFeatures) return halves;
  const torch::Tensor image = model.Encode(Modality::kImage, halves.image).code;
  const torch::Tensor text = model.Encode(Modality::kText, halves.text).code;
  return {image, text, UnitRows(0.5 * (image + text))};
}

PairViews PrototypeViews(const torch::Tensor& C, const HashModel& model, PairSpace space) {
  return space == PairSpace::kCodes ? PairViews{C, C, C} : ViewsOf(C, model, space);
}

KMeans PairPrototypes(const torch::Tensor& points, int64_t M, Random random) {
  return Cluster(points.cpu(), {.clusters = M, .fewer = true}, random);
}

torch::Tensor DistanceToNearest(const torch::Tensor& fused, const torch::Tensor& C) {
  torch::NoGradGuard no_grad;
  return 1 - Cosines(fused, C).amax(1);
}

double QuantileOf(const torch::Tensor& values, double q) {
  return values.numel() == 0 ? 0 : torch::quantile(values.to(torch::kDouble), q).item<double>();
}

torch::Tensor WithinTheta(const torch::Tensor& distances, double theta) {
  return (torch::isfinite(distances) & distances.le(theta)).nonzero().squeeze(1);
}

torch::Tensor ClusterLabels(const torch::Tensor& labels, const torch::Tensor& assignment,
                            int64_t clusters) {
  const torch::Tensor members =
      torch::eye(clusters, labels.options()).index_select(0, assignment.to(labels.device()));
  return members.t().mm(labels) / members.sum(0).clamp_min(1).unsqueeze(1);
}

torch::Tensor CommonLabels(const torch::Tensor& means) {
  torch::Tensor labels = means.ge(0.5).to(torch::kFloat);
  return labels.scatter_(1, means.argmax(1, /*keepdim=*/true), 1);
}

}  // namespace crossilo

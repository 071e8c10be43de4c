// What a silo of FedWGAN sends, and what the hub takes of it: another silo's
// numbers are never trusted.

#include "crossilo/methods/synthesis_upload.h"

#include <cmath>

namespace crossilo {
namespace {

std::optional<double> ScalarIn(const TensorMap& sent, const char* name) {
  const auto found = sent.find(name);
  if (found == sent.end() || found->second.numel() != 1) return {};
  const double value = found->second.item<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

// A finite matrix of that width.
torch::Tensor MatrixIn(const TensorMap& sent, const char* name, int64_t width) {
  const auto found = sent.find(name);
  if (found == sent.end()) return {};
  const torch::Tensor& x = found->second;
  const bool fits = x.scalar_type() == torch::kFloat && x.dim() == 2 && x.size(0) > 0 &&
                    x.size(1) == width && torch::isfinite(x).all().item<bool>();
  return fits ? x : torch::Tensor();
}

}  // namespace

TensorMap SynthesisUpload::Sent() const {
  TensorMap sent = Prefixed("generator/", generator);
  sent["prototypes"] = prototypes;
  if (labels.defined()) sent["labels"] = labels;
  sent["theta"] = torch::full({1}, theta, torch::kDouble);
  sent["samples"] = torch::full({1}, samples, torch::kDouble);
  return Copy(sent);
}

std::optional<SynthesisUpload> SynthesisUpload::From(const TensorMap& sent, const PairShape& shape,
                                                     const WganOptions& options,
                                                     int64_t prototype_dims, int64_t label_dims) {
  constexpr double kMostSamples = 1e7;  // a silo's word decides how many pairs the hub makes
  const auto theta = ScalarIn(sent, "theta"), samples = ScalarIn(sent, "samples");
  if (!theta || !samples || *samples > kMostSamples) return {};
  SynthesisUpload upload{.prototypes = MatrixIn(sent, "prototypes", prototype_dims),
                         .theta = *theta,
                         .samples = *samples};
  if (!upload.prototypes.defined()) return {};
  if (label_dims > 0) {
    upload.labels = MatrixIn(sent, "labels", label_dims);
    if (!upload.labels.defined() || upload.labels.size(0) != upload.prototypes.size(0)) return {};
  }
  TensorMap generator = Under("generator/", sent);
  if (IsGenerator(generator, shape, options)) upload.generator = std::move(generator);
  return upload;
}

}  // namespace crossilo

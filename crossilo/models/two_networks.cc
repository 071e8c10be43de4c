#include "crossilo/models/two_networks.h"

#include <algorithm>

#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

TwoNetworkOptions TwoNetworkOptions::From(const Config& table) {
  TwoNetworkOptions o;
  o.bits = ReadBits(table);
  o.hidden_image = table.Int("hidden_image", o.hidden_image, "width of the image hidden layer", 1);
  o.hidden_text = table.Int("hidden_text", o.hidden_text, "width of the text hidden layer", 1);
  o.deviation = table.Real("init_deviation", o.deviation,
                           "initial weights are normal with this deviation; negative: uniform in "
                           "+-1/sqrt(inputs)");
  o.fresh = table.Choice("sampling", "pass", {"fresh", "pass"},
                         "fresh: every batch a new random subset, as the authors do; pass: every "
                         "sample once an epoch") == "fresh";
  o.common_start = table.Choice("start", "common", {"common", "private"},
                                "of code buffers and class codes: common: class codes drawn alike "
                                "at every silo, a sample starts at its classes'; private: all at "
                                "random, as the authors do") == "common";
  return o;
}

TwoNetworks::TwoNetworks(const ModelShape& shape, const TwoNetworkOptions& options, Random random)
    : HashModel(shape), bits_(options.bits) {
  AddLinear("image.hidden", shape.image_dims, options.hidden_image, options.deviation, random);
  AddLinear("image.hash", options.hidden_image, options.bits, options.deviation, random);
  AddLinear("text.hidden", shape.text_dims, options.hidden_text, options.deviation, random);
  AddLinear("text.hash", options.hidden_text, options.bits, options.deviation, random);
}

Encoded TwoNetworks::Forward(Modality modality, const torch::Tensor& x) const {
  const std::string net = NameOf(modality);
  Encoded out;
  out.hidden = torch::relu(ApplyLinear(net + ".hidden", x));
  out.raw = ApplyLinear(net + ".hash", out.hidden);
  return out;
}

std::vector<Step> PlanAlternating(int64_t n, int64_t batch, bool fresh, Random& random) {
  const int64_t b = std::min(batch, n);
  std::vector<Step> steps;
  for (Modality m : kModalities) {
    const torch::Tensor order = RandomPermutation(n, random);
    for (int64_t at = 0; at < n; at += b) {
      if (!fresh) {
        steps.push_back({order.slice(0, at, std::min(n, at + b)), {m}});
      } else if (at + b <= n) {
        steps.push_back({RandomPermutation(n, random).slice(0, 0, b), {m}});
      }
    }
  }
  return steps;
}

}  // namespace crossilo

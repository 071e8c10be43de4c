#include "crossilo/models/hash_model.h"

#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/models/linear.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

std::string NameOf(Modality modality) { return modality == Modality::kImage ? "image" : "text"; }

std::vector<std::string> HashModel::ParametersOf(const std::vector<Modality>& trains) const {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : parameters_) {
    bool other = false;
    for (Modality m : kModalities) {
      const bool trained = std::find(trains.begin(), trains.end(), m) != trains.end();
      if (!trained && name.starts_with(NameOf(m) + ".")) other = true;
    }
    if (!other) names.push_back(name);
  }
  return names;
}

Encoded HashModel::Encode(Modality modality, const torch::Tensor& x, Random* noise) const {
  const torch::Tensor input = Input(modality, x);
  Encoded out =
      noise != nullptr ? ForwardWithNoise(modality, input, *noise) : Forward(modality, input);
  out.input = input;
  out.code = out.output;
  if (head_) head_->Apply(*this, modality, out);
  return out;
}

torch::Tensor HashModel::Input(Modality modality, const torch::Tensor& x) const {
  if (input_ == InputStage::kRaw) return x;
  return UnitRows(input_ == InputStage::kUnit ? x : ApplyLinear(NameOf(modality) + ".input", x));
}

void HashModel::SetInput(InputStage stage, const ModelShape& features, Random random) {
  input_ = stage;
  if (stage != InputStage::kMlp) return;
  AddLinear("image.input", features.image_dims, shape_.image_dims, -1, random);
  AddLinear("text.input", features.text_dims, shape_.text_dims, -1, random);
}

void HashModel::Attach(std::unique_ptr<Head> head, Random random) {
  for (const HeadLayer& layer : head->Layers()) {
    AddLinear(layer.name, layer.in, layer.out, layer.deviation, random);
  }
  head_ = std::move(head);
}

void HashModel::SetContext(const TensorMap& context) {
  context_ = Copy(context, parameters_.begin()->second.device());
}

void HashModel::To(torch::Device device) {
  for (auto& [name, parameter] : parameters_) {
    parameter = parameter.detach().to(device).set_requires_grad(true);
  }
  context_ = Copy(context_, device);
}

void HashModel::AddLinear(const std::string& name, int64_t in, int64_t out, double deviation,
                          Random& random) {
  torch::Tensor weight, bias;
  if (deviation < 0) {
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    weight = RandomUniform({out, in}, -bound, bound, random);
    bias = RandomUniform({out}, -bound, bound, random);
  } else {
    weight = deviation * RandomNormal({out, in}, random);
    bias = deviation * RandomNormal({out}, random);
  }
  parameters_[name + ".weight"] = weight.set_requires_grad(true);
  parameters_[name + ".bias"] = bias.set_requires_grad(true);
}

torch::Tensor HashModel::ApplyLinear(const std::string& name, const torch::Tensor& x) const {
  return Linear(x, parameters_.at(name + ".weight"), parameters_.at(name + ".bias"));
}

std::unique_ptr<HashModel> NewModel(const ModelKind& kind, const ModelShape& shape,
                                    const Config& table, Random random) {
  const std::string input =
      table.Choice("input", "raw", {"raw", "unit", "mlp"},
                   "what the base reads: features as they are; scaled to length 1; or a trained "
                   "layer's output of length 1, as wide for images as for text");
  const int64_t dims = table.Int("input_dims", 512, "how wide, with input = \"mlp\"", 1, 1 << 20);
  ModelShape inner = shape;
  if (input == "mlp") inner.image_dims = inner.text_dims = dims;
  auto model = kind.make(inner, table, random);
  model->SetInput(input == "mlp"    ? InputStage::kMlp
                  : input == "unit" ? InputStage::kUnit
                                    : InputStage::kRaw,
                  shape, Random(random.Bits(), {}, "input"));
  return model;
}

int64_t ReadBits(const Config& table) {
  const int64_t bits = table.Int("bits", 32, "length of a code in bits, a multiple of 8", 8, 1024);
  if (bits % 8 != 0) throw Error("model.bits is {}; a code's length is a multiple of 8", bits);
  return bits;
}

TensorMap Weights(const HashModel& model) { return Copy(model.parameters()); }

void SetWeights(HashModel& model, const TensorMap& weights) {
  torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : model.parameters()) {
    const auto given = weights.find(name);
    if (given == weights.end()) {
      throw Error("weights without '{}': they belong to another model", name);
    }
    if (given->second.sizes() != parameter.sizes()) {
      throw Error("weights '{}' have another shape than the model's: another base or other sizes",
                  name);
    }
    parameter.copy_(given->second);
  }
}

}  // namespace crossilo

#include "crossilo/models/code_affinity.h"

#include <algorithm>
#include <cmath>

#include "crossilo/models/plan_pairs.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

CodeAffinityOptions CodeAffinityOptions::From(const Config& table) {
  CodeAffinityOptions o;
  o.bits = ReadBits(table);
  o.hidden_image = table.Int("hidden_image", o.hidden_image, "width of the image hidden layer", 1);
  o.hidden_text = table.Int("hidden_text", o.hidden_text, "width of the text hidden layer", 1);
  o.layers_image =
      table.Int("layers_image", o.layers_image,
                "layers of the image network; 1: a hash layer alone on the features", 1, 2);
  o.by_round = table.Choice("epochs", "global", {"global", "round"},
                            "which epochs sharpen the codes: global: all that the silo has "
                            "trained; round: from the first again every round") == "round";
  o.alpha_epochs = table.Int("alpha_epochs", o.alpha_epochs,
                             "codes stop to sharpen after this many epochs; 0: never", 0);
  return o;
}

CodeAffinityModel::CodeAffinityModel(const ModelShape& shape, const CodeAffinityOptions& options,
                                     Random random)
    : HashModel(shape), networks_(options) {
  const bool hidden = options.layers_image == 2;
  if (hidden) AddLinear("image.hidden", shape.image_dims, options.hidden_image, -1, random);
  AddLinear("image.hash", hidden ? options.hidden_image : shape.image_dims, options.bits, -1,
            random);
  AddLinear("text.hidden", shape.text_dims, options.hidden_text, -1, random);
  AddLinear("text.hash", options.hidden_text, options.bits, -1, random);
}

Encoded CodeAffinityModel::Forward(Modality modality, const torch::Tensor& x) const {
  const std::string net = NameOf(modality);
  const bool hidden = modality == Modality::kText || networks_.layers_image == 2;
  Encoded out;
  out.hidden = hidden ? torch::relu(ApplyLinear(net + ".hidden", x)) : x;
  out.raw = ApplyLinear(net + ".hash", out.hidden);
  out.output = torch::tanh(alpha_ * out.raw);
  return out;
}

torch::Tensor CosineAffinity(const torch::Tensor& x) {
  const torch::Tensor unit = UnitRows(x);
  return 2 * unit.mm(unit.t()) - 1;
}

torch::Tensor AffinityLoss(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& S) {
  return (a.mm(b.t()) - S).square().mean();
}

CodeAffinityLearner::CodeAffinityLearner(CodeAffinityModel& model, const Silo& silo)
    : model_(model), silo_(silo) {
  SetAlpha();
}

void CodeAffinityLearner::BeginRound(Random&) { round_epochs_ = 0; }

std::vector<Step> CodeAffinityLearner::PlanEpoch(int, int64_t batch, Random& random) {
  ++epochs_;
  ++round_epochs_;
  SetAlpha();
  return PlanGroups(silo_.size(), batch, random);
}

torch::Tensor CodeAffinityLearner::Loss(const Step& step, Seen& seen) {
  const Batch batch = Read(step.rows);
  seen.image = model_.Encode(Modality::kImage, batch.image);
  seen.text = model_.Encode(Modality::kText, batch.text);
  torch::Tensor S;
  {
    torch::NoGradGuard no_grad;
    S = Target(seen.image.input.detach(), seen.text.input.detach());
  }
  return Objective(UnitRows(seen.image.output), UnitRows(seen.text.output), S);
}

TensorMap CodeAffinityLearner::State() const {
  return {{"epochs", torch::tensor({epochs_, round_epochs_})}};
}

void CodeAffinityLearner::SetState(const TensorMap& state) {
  epochs_ = state.at("epochs")[0].item<int64_t>();
  round_epochs_ = state.at("epochs")[1].item<int64_t>();
  SetAlpha();
}

// alpha = sqrt(epoch + 1), epoch from 0: the root of how many have begun.
void CodeAffinityLearner::SetAlpha() {
  const CodeAffinityOptions& o = model_.networks();
  int64_t begun = std::max<int64_t>(1, o.by_round ? round_epochs_ : epochs_);
  if (o.alpha_epochs > 0) begun = std::min(begun, o.alpha_epochs);
  model_.set_alpha(std::sqrt(static_cast<double>(begun)));
}

}  // namespace crossilo

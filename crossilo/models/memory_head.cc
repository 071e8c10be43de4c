#include "crossilo/base/error.h"
#include "crossilo/models/head.h"

namespace crossilo {
namespace {

constexpr char kAfter[] = "memory", kBefore[] = "memory before activation";

class MemoryHead final : public Head {
 public:
  MemoryHead(int64_t classes, int64_t dims, bool before)
      : classes_(classes), dims_(dims), before_(before) {}

  std::vector<HeadLayer> Layers() const override {
    return {{"image.classifier", dims_, classes_, 0.01},
            {"text.classifier", dims_, classes_, 0.01}};
  }

  void Apply(const HashModel& model, Modality modality, Encoded& encoded) const override {
    const torch::Tensor& O = before_ ? encoded.raw : encoded.output;
    encoded.logits = model.ApplyLinear(NameOf(modality) + ".classifier", O);
    encoded.code = O;
    const auto memory = model.context().find("memory");
    if (memory == model.context().end()) return;
    const torch::Tensor V_m = torch::softmax(encoded.logits, 1).mm(memory->second);  // Eq. 3
    encoded.code = O + torch::tanh(O) * V_m;                                         // Eq. 4
  }

  std::string Description() const override { return before_ ? kBefore : kAfter; }

 private:
  int64_t classes_, dims_;
  bool before_;
};

}  // namespace

std::unique_ptr<Head> MakeMemoryHead(int64_t classes, int64_t dims, bool before_activation) {
  return std::make_unique<MemoryHead>(classes, dims, before_activation);
}

std::unique_ptr<Head> MakeHead(const std::string& description, const HashModel& model) {
  if (auto head = PredictionHeadFrom(description, model.code_dims())) return head;
  if (description != kAfter && description != kBefore) {
    throw Error("the bundle asks for a head '{}', which this version does not know", description);
  }
  return MakeMemoryHead(model.shape().classes, model.code_dims(), description == kBefore);
}

}  // namespace crossilo

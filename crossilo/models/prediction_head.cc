#include <charconv>

#include "crossilo/models/head.h"

namespace crossilo {
namespace {

constexpr std::string_view kName = "prediction ";  // and the width

class PredictionHead final : public Head {
 public:
  PredictionHead(int64_t dims, int64_t width) : dims_(dims), width_(width) {}

  std::vector<HeadLayer> Layers() const override {
    std::vector<HeadLayer> layers;
    for (Modality m : kModalities) {
      layers.push_back({NameOf(m) + ".predict1", dims_, width_});
      layers.push_back({NameOf(m) + ".predict2", width_, dims_});
    }
    return layers;
  }

  void Apply(const HashModel&, Modality, Encoded&) const override {}

  std::string Description() const override { return std::string(kName) + std::to_string(width_); }

 private:
  int64_t dims_, width_;
};

}  // namespace

std::unique_ptr<Head> MakePredictionHead(int64_t dims, int64_t width) {
  return std::make_unique<PredictionHead>(dims, width);
}

std::unique_ptr<Head> PredictionHeadFrom(const std::string& description, int64_t dims) {
  if (!description.starts_with(kName)) return nullptr;
  int64_t width = 0;
  const char* end = description.data() + description.size();
  const auto [stop, error] = std::from_chars(description.data() + kName.size(), end, width);
  if (error != std::errc() || stop != end || width < 1 || width > (1 << 16)) return nullptr;
  return MakePredictionHead(dims, width);
}

torch::Tensor Predict(const HashModel& model, Modality modality, const torch::Tensor& u) {
  const std::string net = NameOf(modality);
  return model.ApplyLinear(net + ".predict2", torch::relu(model.ApplyLinear(net + ".predict1", u)));
}

}  // namespace crossilo

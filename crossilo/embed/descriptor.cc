// The classic picture descriptor: oriented gradients, colours and a thumbnail,
// brought to equal strength, then principal components.  It needs no weights,
// so anybody can build the default dataset and query it.
#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/embed/fit.h"
#include "crossilo/embed/kinds.h"
#include "crossilo/embed/projection.h"
#include "crossilo/embed/settings.h"
#include "crossilo/embed/visual.h"

namespace crossilo {
namespace {

constexpr int64_t kSize = kHogSize + kColourSize + kThumbnailSize;
constexpr double kLeast = 1e-9;  // below it a spread is rounding, as with equal pictures
constexpr int64_t kParts[] = {kHogSize, kColourSize, kThumbnailSize};

// n x kSize, before anything fitted.
torch::Tensor Describe64(const std::vector<Picture>& pictures) {
  torch::Tensor out = torch::empty({static_cast<int64_t>(pictures.size()), kSize});
  float* data = out.data_ptr<float>();
  ForEach(out.size(0), [&](int64_t i) {
    const Picture small = FitOnWhite(pictures[i], kVisualSide, kVisualSide);
    float* row = data + i * kSize;
    for (const auto& part : {Hog(small), ColourHistogram(small), Thumbnail(small)}) {
      row = std::copy(part.begin(), part.end(), row);
    }
  });
  return out;
}

// One factor for each raw number: a part's features together have variance 1.
torch::Tensor PartScales(const torch::Tensor& raw) {
  std::vector<torch::Tensor> scales;
  int64_t start = 0;
  for (int64_t size : kParts) {
    const torch::Tensor part = raw.narrow(1, start, size).to(torch::kDouble);
    const double variance = part.var(0, /*unbiased=*/false).sum().item<double>();
    scales.push_back(torch::full({size}, variance > kLeast ? 1 / std::sqrt(variance) : 1.0));
    start += size;
  }
  return torch::cat(scales).to(torch::kFloat);
}

class Descriptor : public PictureEmbedder {
 public:
  explicit Descriptor(const Embedding& embedding)
      : embedding_(embedding),
        scales_(Fitted(embedding, "scales", torch::kFloat, {kSize})),
        mean_(Fitted(embedding, "mean", torch::kFloat, {kSize})),
        basis_(Fitted(embedding, "basis", torch::kFloat, {kSize, -1})) {
    if (basis_.size(1) < 1) throw Error("the descriptor embedding has no directions left");
  }

  torch::Tensor Embed(const std::vector<Picture>& pictures) const override {
    const torch::Tensor rows = Describe64(pictures) * scales_ - mean_;
    torch::Tensor out = torch::empty({rows.size(0), dims()});
    const float* in = rows.data_ptr<float>();
    float* result = out.data_ptr<float>();
    ForEach(rows.size(0), [&](int64_t i) { Project(in + i * kSize, basis_, result + i * dims()); });
    return out;
  }

  Embedding Describe() const override { return embedding_; }
  int64_t dims() const override { return basis_.size(1); }

 private:
  Embedding embedding_;
  torch::Tensor scales_, mean_, basis_;
};

}  // namespace

Embedding FitDescriptor(const std::vector<Picture>& pictures, int64_t dims) {
  if (pictures.empty()) throw Error("no pictures to fit the descriptor on; add training rows");
  if (dims < 1) throw Error("descriptor: {} dimensions; ask for at least 1", dims);
  const torch::Tensor raw = Describe64(pictures);
  const torch::Tensor scales = PartScales(raw), scaled = raw * scales;
  Pca pca = FitPca(scaled, dims);
  const double square = (scaled - pca.mean).mm(pca.basis).square().mean().item<double>();
  if (square > kLeast) pca.basis = pca.basis / std::sqrt(square);
  return {"descriptor",
          {{"version", "1"}},
          {{"scales", scales}, {"mean", pca.mean}, {"basis", pca.basis}}};
}

std::unique_ptr<PictureEmbedder> MakeDescriptor(const Embedding& embedding, const Folders&) {
  WholeSetting(embedding, "version", 1, 1);
  return std::make_unique<Descriptor>(embedding);
}

}  // namespace crossilo

// A picture network from a TorchScript file.
#include <torch/script.h>

#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/embed/fit.h"
#include "crossilo/embed/kinds.h"
#include "crossilo/embed/settings.h"

namespace crossilo {
namespace {

constexpr const char* kChannels[] = {"red", "green", "blue"};
constexpr int64_t kBatch = 32;

class Torchscript : public PictureEmbedder {
 public:
  Torchscript(const Embedding& embedding, const std::filesystem::path& file)
      : embedding_(embedding),
        file_(file),
        width_(WholeSetting(embedding, "width", 1, 4096)),
        height_(WholeSetting(embedding, "height", 1, 4096)),
        dims_(WholeSetting(embedding, "dims", 1, 1 << 20)) {
    for (int c = 0; c < 3; ++c) {
      mean_[c] = NumberSetting(embedding, std::string("mean_") + kChannels[c], -1e6, 1e6);
      scale_[c] = NumberSetting(embedding, std::string("scale_") + kChannels[c], 1e-6, 1e6);
    }
    try {
      network_ = torch::jit::load(file.string(), torch::kCPU);
      network_.eval();
    } catch (const std::exception&) {
      throw Error(
          "{}: not a TorchScript file that this libtorch can open; export it again with "
          "torch.jit.trace(...).save(...)",
          file.string());
    }
  }

  torch::Tensor Embed(const std::vector<Picture>& pictures) const override {
    const auto n = static_cast<int64_t>(pictures.size());
    torch::Tensor out = torch::empty({n, dims_});
    for (int64_t start = 0; start < n; start += kBatch) {
      const int64_t size = std::min(kBatch, n - start);
      const torch::Tensor rows = Run(Input(pictures, start, size));
      if (rows.dim() != 2 || rows.size(0) != size || rows.size(1) != dims_) {
        throw Error("{}: gave other than {} numbers a picture; is it the file that was described?",
                    file_.string(), dims_);
      }
      out.narrow(0, start, size).copy_(rows);
    }
    return out;
  }

  // What the network gives for these pictures, flattened to one row each.
  torch::Tensor Run(const torch::Tensor& input) const {
    const torch::NoGradGuard no_gradients;
    try {
      // forward() is not const, yet changes nothing in eval mode.
      torch::jit::Module network = network_;
      const torch::Tensor rows = network.forward({input}).toTensor();
      return rows.flatten(rows.dim() > 1 ? 1 : 0).to(torch::kFloat);
    } catch (const c10::Error& error) {
      throw Error("{}: the network refuses {} x {} pictures: {}", file_.string(), width_, height_,
                  error.what_without_backtrace());
    } catch (const std::exception& error) {
      throw Error("{}: the network refuses {} x {} pictures: {}", file_.string(), width_, height_,
                  error.what());
    }
  }

  // size x 3 x height x width
  torch::Tensor Input(const std::vector<Picture>& pictures, int64_t start, int64_t size) const {
    torch::Tensor input = torch::empty({size, 3, height_, width_});
    float* data = input.data_ptr<float>();
    const int64_t plane = height_ * width_;
    ForEach(size, [&](int64_t i) {
      const Picture fitted =
          Resize(pictures[start + i], static_cast<int>(width_), static_cast<int>(height_));
      for (int64_t c = 0; c < 3; ++c) {
        float* out = data + (3 * i + c) * plane;
        for (int64_t p = 0; p < plane; ++p) {
          out[p] = static_cast<float>((fitted.rgb[3 * p + c] - mean_[c]) / scale_[c]);
        }
      }
    });
    return input;
  }

  Embedding Describe() const override { return embedding_; }
  int64_t dims() const override { return dims_; }

 private:
  Embedding embedding_;
  std::filesystem::path file_;
  int64_t width_, height_, dims_;
  std::array<double, 3> mean_, scale_;
  torch::jit::Module network_;
};

}  // namespace

Embedding DescribeTorchscript(const std::filesystem::path& file,
                              const TorchscriptOptions& options) {
  Embedding embedding{"torchscript",
                      {{"width", std::to_string(options.width)},
                       {"height", std::to_string(options.height)},
                       {"dims", "1"}},
                      {}};
  for (int c = 0; c < 3; ++c) {
    embedding.settings[std::string("mean_") + kChannels[c]] = fmt::format("{}", options.mean[c]);
    embedding.settings[std::string("scale_") + kChannels[c]] = fmt::format("{}", options.scale[c]);
  }
  NameFile(file, embedding);
  const Torchscript network(embedding, file);
  const Picture grey{1, 1, {128, 128, 128}};
  const torch::Tensor row = network.Run(network.Input({grey}, 0, 1));
  if (row.dim() != 2 || row.size(0) != 1) {
    throw Error("{}: must give one row of numbers a picture", file.string());
  }
  embedding.settings["dims"] = std::to_string(row.size(1));
  return embedding;
}

std::unique_ptr<PictureEmbedder> MakeTorchscript(const Embedding& embedding,
                                                 const Folders& folders) {
  return std::make_unique<Torchscript>(embedding, NamedFile(embedding, folders));
}

}  // namespace crossilo

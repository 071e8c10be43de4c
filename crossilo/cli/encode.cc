#include "crossilo/models/encode.h"

#include <cstdio>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/command.h"
#include "crossilo/data/npy.h"
#include "crossilo/models/bundle.h"

namespace crossilo {
namespace {

struct EncodeArguments {
  std::string bundle, data, out;
};

// <out>/<modality>.npy: uint8 n x bits/8, or float32 n x dims of a real-valued
// model.
void WriteCodes(const std::filesystem::path& path, const torch::Tensor& relaxed, bool real_valued) {
  if (real_valued) {
    WriteNpy(
        path, Dtype::kF32, relaxed.sizes().vec(),
        std::as_bytes(std::span(relaxed.data_ptr<float>(), static_cast<size_t>(relaxed.numel()))));
    return;
  }
  const std::vector<uint8_t> bytes = Binarize(relaxed).ToBytes();
  WriteNpy(path, Dtype::kU8, {relaxed.size(0), relaxed.size(1) / 8},
           std::as_bytes(std::span(bytes)));
}

void Encode(const EncodeArguments& a) {
  const Bundle bundle = ReadBundle(a.bundle);
  const Dataset dataset = OpenDataset(a.data);
  CheckFits(bundle, dataset);
  const auto model = MakeModel(bundle);
  Rows rows(dataset.size());
  for (int64_t i = 0; i < dataset.size(); ++i) rows[i] = i;
  const std::filesystem::path out = a.out;
  WriteCodes(out / "image.npy", EncodeRows(*model, Modality::kImage, dataset.image, rows),
             bundle.real_valued());
  WriteCodes(out / "text.npy", EncodeRows(*model, Modality::kText, dataset.text, rows),
             bundle.real_valued());
  WriteFile(out / "codes.toml",
            fmt::format("# Codes of all samples, in their order; see docs/FORMATS.md\n"
                        "kind = \"{}\"\ndims = {}\nsamples = {}\nbundle_sha256 = \"{}\"\n",
                        bundle.real_valued() ? "real" : "bits", model->code_dims(), dataset.size(),
                        Sha256OfFile(a.bundle)));
  std::printf("%s: %lld pairs, %lld %s each\n", a.out.c_str(),
              static_cast<long long>(dataset.size()), static_cast<long long>(model->code_dims()),
              bundle.real_valued() ? "floats" : "bits");
}

}  // namespace

void AddEncode(CLI::App& app) {
  CLI::App* command = app.add_subcommand("encode", "Turn a dataset into codes");
  auto a = std::make_shared<EncodeArguments>();
  command->add_option("--bundle", a->bundle, "A trained model, bundle.safetensors")->required();
  command->add_option("--data", a->data, "A dataset folder")->required();
  command->add_option("--out", a->out, "Where image.npy, text.npy and codes.toml go")->required();
  command->footer(
      "\nExample:\n  crossilo encode --bundle runs/demo/fedavg/bundle.safetensors "
      "--data data/emoji --out codes\n");
  command->callback([a] { Encode(*a); });
}

}  // namespace crossilo

#include "crossilo/models/bundle.h"

#include "crossilo/base/error.h"
#include "crossilo/models/head.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

constexpr char kFormat[] = "crossilo bundle 2";

void PutEmbedding(const std::string& name, const Embedding& embedding, TensorFile& file) {
  const std::string prefix = "embedding/" + name + "/";
  file.tensors.merge(Prefixed(prefix, embedding.tensors));
  file.metadata["embedding/" + name] = embedding.kind;
  for (const auto& [key, value] : embedding.settings) file.metadata[prefix + key] = value;
}

Embedding TakeEmbedding(const std::string& name, const TensorFile& file) {
  const std::string prefix = "embedding/" + name + "/";
  Embedding embedding;
  embedding.kind = file.metadata.at("embedding/" + name);
  embedding.tensors = Under(prefix, file.tensors);
  for (const auto& [key, value] : file.metadata) {
    if (key.starts_with(prefix)) embedding.settings[key.substr(prefix.size())] = value;
  }
  return embedding;
}

void CheckOne(const std::string& what, const Embedding& wanted, const Embedding& given,
              int64_t wanted_dims, int64_t given_dims) {
  if (wanted_dims != given_dims) {
    throw Error(
        "the model reads {} features of {} dimensions, this dataset has {}; import it with "
        "the embedder that the model was trained with",
        what, wanted_dims, given_dims);
  }
  if (wanted.Fingerprint() != given.Fingerprint()) {
    throw Error(
        "the model reads {} features made by '{}' (fingerprint {}), this dataset's were "
        "made by '{}' ({}); import it again with the model's embedder",
        what, wanted.kind, wanted.Fingerprint().substr(0, 12), given.kind,
        given.Fingerprint().substr(0, 12));
  }
}

// A file may hold anything; a head reads a memory of one row a class.
void CheckContext(const Bundle& bundle, const HashModel& model) {
  for (const auto& [name, tensor] : bundle.context) {
    if (name != "memory" || tensor.dim() != 2 || tensor.size(0) != model.shape().classes ||
        tensor.size(1) != model.code_dims() || tensor.scalar_type() != torch::kFloat) {
      throw Error("the bundle's context '{}' does not fit its model; restore it or train again",
                  name);
    }
  }
}

}  // namespace

void WriteBundle(const std::filesystem::path& path, const Bundle& bundle) {
  TensorFile file;
  file.metadata = {{"format", kFormat},
                   {"base", bundle.base},
                   {"model", bundle.model_table},
                   {"image_dims", std::to_string(bundle.shape.image_dims)},
                   {"text_dims", std::to_string(bundle.shape.text_dims)},
                   {"classes", std::to_string(bundle.shape.classes)},
                   {"coarse_classes", std::to_string(bundle.shape.coarse_classes)},
                   {"head", bundle.head}};
  for (const auto& [key, value] : bundle.notes) file.metadata["note/" + key] = value;
  file.tensors = Prefixed("weights/", bundle.weights);
  file.tensors.merge(Prefixed("context/", bundle.context));
  PutEmbedding("image", bundle.image_embedding, file);
  PutEmbedding("text", bundle.text_embedding, file);
  WriteTensors(path, file);
}

Bundle ReadBundle(const std::filesystem::path& path) {
  const TensorFile file = ReadTensors(path);
  const auto format = file.metadata.find("format");
  if (format == file.metadata.end() || format->second != kFormat) {
    throw Error(
        "{}: a safetensors file but not a Crossilo bundle of this version; give the "
        "bundle.safetensors that `crossilo simulate` wrote",
        path.string());
  }
  try {
    Bundle bundle;
    bundle.base = file.metadata.at("base");
    bundle.model_table = file.metadata.at("model");
    bundle.shape.image_dims = std::stoll(file.metadata.at("image_dims"));
    bundle.shape.text_dims = std::stoll(file.metadata.at("text_dims"));
    bundle.shape.classes = std::stoll(file.metadata.at("classes"));
    bundle.shape.coarse_classes = std::stoll(file.metadata.at("coarse_classes"));
    bundle.head = file.metadata.at("head");
    bundle.weights = Under("weights/", file.tensors);
    bundle.context = Under("context/", file.tensors);
    bundle.image_embedding = TakeEmbedding("image", file);
    bundle.text_embedding = TakeEmbedding("text", file);
    for (const auto& [key, value] : file.metadata) {
      if (key.starts_with("note/")) bundle.notes[key.substr(5)] = value;
    }
    return bundle;
  } catch (const std::logic_error& error) {  // a key or a number that is not there
    throw Error("{}: a damaged bundle ({}); restore it or train again", path.string(),
                error.what());
  }
}

std::unique_ptr<HashModel> MakeModel(const Bundle& bundle) {
  const Config table = Config::Parse(bundle.model_table, "the bundle's model table");
  const auto positive = [](int64_t dims) { return dims > 0 && dims <= (1 << 24); };
  if (!positive(bundle.shape.image_dims) || !positive(bundle.shape.text_dims) ||
      bundle.shape.classes < 0 || bundle.shape.classes > (1 << 24) ||
      bundle.shape.coarse_classes < 0 || bundle.shape.coarse_classes > (1 << 24)) {
    throw Error("the bundle's dimensions are not possible; restore it or train again");
  }
  auto model = NewModel(FindModel(bundle.base), bundle.shape, table.Table("model"), Random(0));
  if (!bundle.head.empty()) model->Attach(MakeHead(bundle.head, *model), Random(0));
  CheckContext(bundle, *model);
  SetWeights(*model, bundle.weights);
  model->SetContext(bundle.context);
  return model;
}

void CheckFits(const Bundle& bundle, const Dataset& dataset) {
  CheckOne("image", bundle.image_embedding, dataset.image_embedding, bundle.shape.image_dims,
           dataset.image.size(1));
  CheckOne("text", bundle.text_embedding, dataset.text_embedding, bundle.shape.text_dims,
           dataset.text.size(1));
}

}  // namespace crossilo

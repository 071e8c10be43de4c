#include "crossilo/embed/build.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/base/nearest.h"
#include "crossilo/base/parallel.h"
#include "crossilo/embed/decode.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/embed/visual.h"

namespace crossilo {
namespace {

constexpr int64_t kChunk = 256;  // pictures in memory at full size

// Decodes all pictures, a chunk at a time, and hands each chunk on.
void EachChunk(const Collection& all, const BuildProgress& progress,
               const std::function<Picture(Picture)>& shrink,
               const std::function<void(std::vector<Picture>)>& take) {
  for (int64_t start = 0; start < all.size(); start += kChunk) {
    std::vector<Picture> chunk(std::min(kChunk, all.size() - start));
    ForEach(static_cast<int64_t>(chunk.size()),
            [&](int64_t i) { chunk[i] = shrink(ReadPicture(all.PictureFile(start + i))); });
    const auto done = start + static_cast<int64_t>(chunk.size());
    take(std::move(chunk));
    if (progress) progress("pictures", done, all.size());
  }
}

template <typename T>
std::vector<T> TrainingOf(const Collection& all, const std::vector<T>& rows) {
  std::vector<T> training;
  for (int64_t row : all.splits.at("training")) training.push_back(rows.at(row));
  return training;
}

// Fitting comes before embedding, so all pictures are kept, at the size the
// descriptor looks at.
void DescribePictures(const Collection& all, const BuildOptions& options,
                      const BuildProgress& progress, Dataset& out) {
  std::vector<Picture> pictures;
  EachChunk(
      all, progress, [](Picture picture) { return FitOnWhite(picture, kVisualSide, kVisualSide); },
      [&](std::vector<Picture> chunk) {
        std::move(chunk.begin(), chunk.end(), std::back_inserter(pictures));
      });
  if (progress) progress("descriptor", 0, 1);
  out.image_embedding = FitDescriptor(TrainingOf(all, pictures), options.descriptor_dims);
  out.image = MakePictureEmbedder(out.image_embedding)->Embed(pictures);
  if (progress) progress("descriptor", 1, 1);
}

void RunBackbone(const Collection& all, const BuildOptions& options, const BuildProgress& progress,
                 Dataset& out) {
  if (options.backbone.empty()) throw Error("torchscript: name the file of the network");
  out.image_embedding = DescribeTorchscript(options.backbone, options.torchscript);
  const auto embedder = MakePictureEmbedder(out.image_embedding, {options.backbone.parent_path()});
  std::vector<torch::Tensor> parts;
  EachChunk(
      all, progress, [](Picture picture) { return picture; },
      [&](std::vector<Picture> chunk) { parts.push_back(embedder->Embed(chunk)); });
  out.image = torch::cat(parts);
}

void EmbedPictures(const Collection& all, const BuildOptions& options,
                   const BuildProgress& progress, Dataset& out) {
  if (options.pictures == "descriptor") return DescribePictures(all, options, progress, out);
  if (options.pictures == "torchscript") return RunBackbone(all, options, progress, out);
  throw Error("no embedder for pictures has the kind '{}'{}", options.pictures,
              Suggestion(options.pictures, PictureEmbedderKinds()));
}

void EmbedWords(const Collection& all, const BuildOptions& options, const BuildProgress& progress,
                Dataset& out) {
  if (progress) progress("words", 0, all.size());
  if (options.words == "tfidf") {
    out.text_embedding = FitTfidf(TrainingOf(all, all.words), options.tfidf);
  } else if (options.words == "wordvec") {
    if (options.vectors.empty()) throw Error("wordvec: name the file of the word vectors");
    out.text_embedding = DescribeWordvec(options.vectors, options.wordvec);
  } else {
    throw Error("no embedder for words has the kind '{}'{}", options.words,
                Suggestion(options.words, WordEmbedderKinds()));
  }
  out.text =
      MakeWordEmbedder(out.text_embedding, {options.vectors.parent_path()})->Embed(all.words);
  // After the features: they must not depend on which languages were there.
  if (options.words == "tfidf") {
    Translations training;
    for (const auto& [language, texts] : all.translations) {
      training[language] = TrainingOf(all, texts);
    }
    AddDictionary(TrainingOf(all, all.words), training, out.text_embedding, options.dictionary);
  }
  if (progress) progress("words", all.size(), all.size());
}

torch::Tensor MultiHot(const Labelling& level) {
  const auto rows = static_cast<int64_t>(level.of.size());
  const auto classes = static_cast<int64_t>(level.names.size());
  torch::Tensor labels = torch::zeros({rows, classes}, torch::kByte);
  uint8_t* data = labels.data_ptr<uint8_t>();
  for (int64_t row = 0; row < rows; ++row) {
    for (int number : level.of[row]) data[row * classes + number] = 1;
  }
  return labels;
}

}  // namespace

Dataset BuildDataset(const Collection& all, const BuildOptions& options,
                     const BuildProgress& progress) {
  const auto training = all.splits.find("training");
  if (training == all.splits.end() || training->second.empty()) {
    throw Error("{}: no training rows; the embedders are fitted on them", all.name);
  }
  Dataset out;
  out.name = all.name;
  out.licence = all.licence;
  out.source = all.source;
  out.items = all.items;
  out.splits = all.splits;
  for (const auto& [level, labelling] : all.labels) {
    if (labelling.names.empty()) continue;  // a column without a single label
    out.labels[level] = MultiHot(labelling);
    out.class_names[level] = labelling.names;
  }
  EmbedWords(all, options, progress, out);  // first: it fails fast
  EmbedPictures(all, options, progress, out);
  return out;
}

}  // namespace crossilo

#include <map>

#include "crossilo/base/error.h"
#include "crossilo/base/nearest.h"
#include "crossilo/embed/kinds.h"

namespace crossilo {
namespace {

template <typename Embedder>
using Makers =
    std::map<std::string, std::unique_ptr<Embedder> (*)(const Embedding&, const Folders&)>;

const Makers<PictureEmbedder> kPictures = {
    {"descriptor", MakeDescriptor},
    {"torchscript", MakeTorchscript},
};

const Makers<WordEmbedder> kWords = {
    {"tfidf", MakeTfidf},
    {"wordvec", MakeWordvec},
};

template <typename Embedder>
std::vector<std::string> Names(const Makers<Embedder>& makers) {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers) names.push_back(name);
  return names;
}

template <typename Embedder>
std::unique_ptr<Embedder> Make(const Makers<Embedder>& makers, const char* what,
                               const Embedding& embedding, const Folders& folders) {
  if (embedding.kind == "given") {
    throw Error(
        "the {} features were made elsewhere, so a new query cannot become one; search by "
        "a row number instead, or import the raw data with an embedder",
        what);
  }
  const auto found = makers.find(embedding.kind);
  if (found == makers.end()) {
    throw Error("no embedder for {} has the kind '{}'{}", what, embedding.kind,
                Suggestion(embedding.kind, Names(makers)));
  }
  return found->second(embedding, folders);
}

}  // namespace

std::unique_ptr<PictureEmbedder> MakePictureEmbedder(const Embedding& embedding,
                                                     const Folders& folders) {
  return Make(kPictures, "picture", embedding, folders);
}

std::unique_ptr<WordEmbedder> MakeWordEmbedder(const Embedding& embedding, const Folders& folders) {
  return Make(kWords, "text", embedding, folders);
}

std::vector<std::string> PictureEmbedderKinds() { return Names(kPictures); }
std::vector<std::string> WordEmbedderKinds() { return Names(kWords); }

}  // namespace crossilo

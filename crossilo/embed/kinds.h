#pragma once

#include <memory>

#include "crossilo/embed/embedder.h"

// The makers behind the catalog, one or two a file; for this room only.
namespace crossilo {

std::unique_ptr<PictureEmbedder> MakeDescriptor(const Embedding& embedding, const Folders&);
std::unique_ptr<PictureEmbedder> MakeTorchscript(const Embedding& embedding, const Folders&);
std::unique_ptr<WordEmbedder> MakeTfidf(const Embedding& embedding, const Folders&);
std::unique_ptr<WordEmbedder> MakeWordvec(const Embedding& embedding, const Folders&);

}  // namespace crossilo

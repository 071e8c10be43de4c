#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "crossilo/data/embedding.h"
#include "crossilo/embed/picture.h"
#include "crossilo/tensors/torch.h"

namespace crossilo {

// Turns raw pictures into features; always the same features for the same
// picture.  Safe to call from many threads.
class PictureEmbedder {
 public:
  virtual ~PictureEmbedder() = default;
  // n x dims, float32.
  virtual torch::Tensor Embed(const std::vector<Picture>& pictures) const = 0;
  virtual Embedding Describe() const = 0;
  virtual int64_t dims() const = 0;
};

// The same for words.  A text without a single known word has a row of zeros.
class WordEmbedder {
 public:
  virtual ~WordEmbedder() = default;
  virtual torch::Tensor Embed(const std::vector<std::string>& texts) const = 0;
  virtual Embedding Describe() const = 0;
  virtual int64_t dims() const = 0;
};

// Where to look for a backbone or word-vector file, by name, in this order.
using Folders = std::vector<std::filesystem::path>;

// The embedder that an Embedding describes.  Throws Error for the kind
// "given", for a kind of the other modality or an unknown one, for settings or
// tensors that do not fit, and for a backbone file that is in none of the
// folders or has another checksum.
std::unique_ptr<PictureEmbedder> MakePictureEmbedder(const Embedding& embedding,
                                                     const Folders& folders = {});
std::unique_ptr<WordEmbedder> MakeWordEmbedder(const Embedding& embedding,
                                               const Folders& folders = {});

// The kinds there are, as the two functions above know them.
std::vector<std::string> PictureEmbedderKinds();
std::vector<std::string> WordEmbedderKinds();

}  // namespace crossilo

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "crossilo/data/collection.h"
#include "crossilo/data/dataset.h"
#include "crossilo/embed/fit.h"

namespace crossilo {

struct BuildOptions {
  std::string pictures = "descriptor";  // descriptor or torchscript
  int64_t descriptor_dims = 256;
  std::filesystem::path backbone;  // torchscript: the file
  TorchscriptOptions torchscript;

  std::string words = "tfidf";  // tfidf or wordvec
  TfidfOptions tfidf = {.dims = 300};
  DictionaryOptions dictionary;   // tfidf: of the collection's translations, if any
  std::filesystem::path vectors;  // wordvec: the file
  WordvecOptions wordvec;
};

// Told about every few pictures: what is being done, how many of how many.
using BuildProgress = std::function<void(std::string_view stage, int64_t done, int64_t total)>;

// Makes features (float32) of a collection's pictures and words.  What is
// fitted is fitted on the training rows alone, a dictionary of other languages
// too; the features are the same with and without one.  Uses all cores; the result
// does not depend on their number.  Throws Error naming a picture that cannot
// be decoded.  WriteDataset(folder, dataset, collection.pictures_root) stores it.
Dataset BuildDataset(const Collection& collection, const BuildOptions& options = {},
                     const BuildProgress& progress = {});

}  // namespace crossilo

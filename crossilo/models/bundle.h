#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "crossilo/data/dataset.h"
#include "crossilo/models/hash_model.h"

namespace crossilo {

// A trained model with all that is needed to use it on another machine: how it
// is built, its weights, and how raw pictures and words become its features.
// One safetensors file; the same training gives the same bytes.
struct Bundle {
  std::string base;         // "dcmh"
  std::string model_table;  // the resolved [model] table, TOML
  ModelShape shape;
  TensorMap weights;
  std::string head;   // what a method put behind the model's output; "" for nothing
  TensorMap context;  // what that head reads besides weights
  Embedding image_embedding, text_embedding;
  std::map<std::string, std::string> notes;  // method, dataset, silo, seed: for people

  bool real_valued() const { return FindModel(base).real_valued; }
};

void WriteBundle(const std::filesystem::path& path, const Bundle& bundle);
// Throws Error on a file that is not a bundle, naming what is missing.
Bundle ReadBundle(const std::filesystem::path& path);

// The model with the bundle's weights, ready to encode.
std::unique_ptr<HashModel> MakeModel(const Bundle& bundle);

// Throws Error unless the dataset's features are of the kind that the bundle's
// model was trained on.
void CheckFits(const Bundle& bundle, const Dataset& dataset);

}  // namespace crossilo

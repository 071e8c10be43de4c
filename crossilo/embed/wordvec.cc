// Averaged word vectors from a file.
#include <charconv>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/parallel.h"
#include "crossilo/data/npz.h"
#include "crossilo/embed/fit.h"
#include "crossilo/embed/kinds.h"
#include "crossilo/embed/settings.h"
#include "crossilo/embed/terms.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct WordVectors {
  std::vector<std::string> words;  // most frequent first
  torch::Tensor vectors;           // words x dims, float32
};

WordVectors ReadVectorsNpz(const fs::path& path) {
  WordVectors result{ReadNpzStrings(path, "words"), {}};
  const auto arrays = ReadNpz(path);
  const auto found = arrays.find("vectors");
  const std::map<Dtype, torch::ScalarType> types = {
      {Dtype::kF16, torch::kHalf}, {Dtype::kF32, torch::kFloat}, {Dtype::kF64, torch::kDouble}};
  if (found == arrays.end() || found->second.shape.size() != 2 ||
      !types.contains(found->second.type) ||
      found->second.rows() != static_cast<int64_t>(result.words.size())) {
    throw Error("{}: must hold 'words' (n) and 'vectors' (n x d floats) of the same n",
                path.string());
  }
  // Copied before it is read: inside a zip the numbers lie at any address.
  const Array& array = found->second;
  torch::Tensor vectors = torch::empty(array.shape, types.at(array.type));
  std::memcpy(vectors.data_ptr(), array.bytes.data(), array.bytes.size());
  result.vectors = vectors.to(torch::kFloat);
  return result;
}

// Appends the numbers of one line; false where one is no number.
bool ParseNumbers(std::string_view text, std::vector<float>& out) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    if (text.empty()) return true;
    float value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc()) return false;
    out.push_back(value);
    text.remove_prefix(end - text.data());
  }
}

WordVectors ReadVectorsText(const fs::path& path) {
  const MappedFile file(path);
  std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  WordVectors result;
  std::vector<float> numbers;
  size_t dims = 0;
  for (int64_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t space = std::min(row.find_first_of(" \t"), row.size());
    const size_t before = numbers.size();
    const bool right = ParseNumbers(row.substr(space), numbers);
    const size_t found = numbers.size() - before;
    if (line == 1 && right && found == 1) {  // word2vec's line "words dims"
      numbers.clear();
      continue;
    }
    if (dims == 0) dims = found;
    if (!right || space == 0 || found == 0 || found != dims) {
      throw Error("{}: line {}: not a word and {} numbers", path.string(), line, dims);
    }
    result.words.emplace_back(row.substr(0, space));
  }
  if (result.words.empty()) throw Error("{}: no word vectors in it", path.string());
  result.vectors = torch::tensor(numbers).view({-1, static_cast<int64_t>(dims)});
  return result;
}

WordVectors ReadVectors(const fs::path& path) {
  WordVectors read = path.extension() == ".npz" ? ReadVectorsNpz(path) : ReadVectorsText(path);
  if (read.vectors.numel() == 0 || !torch::isfinite(read.vectors).all().item<bool>()) {
    throw Error("{}: no vectors, or some that are not finite; get the file again", path.string());
  }
  return read;
}

class Wordvec : public WordEmbedder {
 public:
  Wordvec(const Embedding& embedding, const fs::path& file)
      : embedding_(embedding), smooth_(NumberSetting(embedding, "smooth", 0, 1e6)) {
    WordVectors read = ReadVectors(file);
    vectors_ = read.vectors.contiguous();
    // A word that comes twice keeps its first place.
    for (size_t rank = 0; rank < read.words.size(); ++rank) {
      rank_.try_emplace(std::move(read.words[rank]), static_cast<int64_t>(rank));
    }
  }

  torch::Tensor Embed(const std::vector<std::string>& texts) const override {
    torch::Tensor out = torch::zeros({static_cast<int64_t>(texts.size()), dims()});
    float* data = out.data_ptr<float>();
    ForEach(out.size(0), [&](int64_t i) { Average(texts[i], data + i * dims()); });
    return out;
  }

  Embedding Describe() const override { return embedding_; }
  int64_t dims() const override { return vectors_.size(1); }

 private:
  void Average(const std::string& text, float* row) const {
    for (const std::string& word : Words(text)) {
      const auto found = rank_.find(word);
      if (found == rank_.end()) continue;
      const double rank = 1.0 + static_cast<double>(found->second);
      const double weight = smooth_ > 0 ? smooth_ / (smooth_ + 1 / rank) : 1;
      const float* vector = vectors_.data_ptr<float>() + found->second * dims();
      for (int64_t k = 0; k < dims(); ++k) row[k] += static_cast<float>(weight) * vector[k];
    }
    double square = 0;
    for (int64_t k = 0; k < dims(); ++k) square += static_cast<double>(row[k]) * row[k];
    if (square == 0) return;
    for (int64_t k = 0; k < dims(); ++k) row[k] /= static_cast<float>(std::sqrt(square));
  }

  Embedding embedding_;
  double smooth_;
  std::unordered_map<std::string, int64_t> rank_;  // looked up, never walked
  torch::Tensor vectors_;
};

}  // namespace

Embedding DescribeWordvec(const fs::path& file, const WordvecOptions& options) {
  Embedding embedding{"wordvec", {{"smooth", fmt::format("{}", options.smooth)}}, {}};
  NameFile(file, embedding);
  embedding.settings["dims"] = std::to_string(Wordvec(embedding, file).dims());
  return embedding;
}

std::unique_ptr<WordEmbedder> MakeWordvec(const Embedding& embedding, const Folders& folders) {
  return std::make_unique<Wordvec>(embedding, NamedFile(embedding, folders));
}

}  // namespace crossilo

// How well are pictures found by words of other languages?  See bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>

#include "crossilo/base/error.h"
#include "crossilo/data/emojibase.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/eval/evaluate.h"
#include "crossilo/models/bundle.h"
#include "crossilo/models/encode.h"

namespace crossilo {
namespace {

std::vector<uint8_t> LabelsOf(const Dataset& data, const Rows& rows) {
  const torch::Tensor labels = data.Labels("").index_select(0, torch::tensor(rows)).contiguous();
  return {labels.data_ptr<uint8_t>(), labels.data_ptr<uint8_t>() + labels.numel()};
}

class Bench {
 public:
  Bench(const std::string& data, const std::string& bundle, std::string packages)
      : data_(OpenDataset(data)),
        model_(MakeModel(Fitting(ReadBundle(bundle)))),
        packages_(std::move(packages)),
        with_(MakeWordEmbedder(data_.text_embedding)),
        without_(MakeWordEmbedder(Stripped(data_.text_embedding))),
        database_(
            Binarize(EncodeRows(*model_, Modality::kImage, data_.image, data_.Split("retrieval")))),
        relevance_(Relevance::FromLabels(LabelsOf(data_, data_.Split("query")),
                                         LabelsOf(data_, data_.Split("retrieval")),
                                         data_.Labels("").size(1))) {}

  // Every language, and whether all are good enough.
  bool Languages() const {
    const double english = Map(*without_, Texts("en", false));
    fmt::print("{:<8}  {:>6}  {:>10}  {:>6} {:>10}\n", "language", "label", "label+tags", "label",
               "label+tags");
    Line("en");
    double worst = 1;
    for (const std::string& language : EmojiLanguages(packages_)) {
      worst = std::min(worst, Line(language));
    }
    fmt::print("worst label {:.3f}, English without a dictionary {:.3f}\n", worst, english);
    return worst >= 0.8 * english;
  }

  // Whether the embedder, asked again, gives the dataset's own features: for
  // every training row, and for all but a hundredth of the others.
  bool OwnRows() const {
    std::vector<std::string> texts;
    for (int64_t row = 0; row < data_.size(); ++row) {
      texts.push_back(
          fmt::format("{} {}", data_.items.Cell(row, "caption"), data_.items.Cell(row, "tags")));
    }
    const torch::Tensor other = (with_->Embed(texts) != data_.text).any(1);
    const auto trained =
        other.index_select(0, torch::tensor(data_.Split("training"))).sum().item<int64_t>();
    const auto all = other.sum().item<int64_t>();
    fmt::print("{} of {} English rows become another feature, {} of them trained on\n", all,
               data_.size(), trained);
    return trained == 0 && all * 100 <= data_.size();
  }

  void Ask(const std::string& words) const {
    const auto start = std::chrono::steady_clock::now();
    const torch::Tensor features = with_->Embed({words});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    fmt::print("{}  ({:.1f} ms)\n  before: {}\n  after:  {}\n", words, took.count(),
               Answer(without_->Embed({words})), Answer(features));
  }

 private:
  static Embedding Stripped(Embedding embedding) {
    embedding.settings.erase("languages");
    return embedding;
  }

  Bundle Fitting(Bundle bundle) const {
    CheckFits(bundle, data_);
    if (bundle.real_valued()) throw Error("this bench wants a model of binary codes");
    return bundle;
  }

  std::vector<std::string> Texts(const std::string& language, bool tags) const {
    const auto names = ReadEmojiNames(packages_, language);
    std::vector<std::string> texts;
    for (const int64_t row : data_.Split("query")) {
      const std::string id(data_.items.Cell(row, "id"));
      const EmojiName& name = names.at(id.substr(id.find('/') + 1));
      texts.push_back(tags ? name.label + " " + name.tags : name.label);
    }
    return texts;
  }

  PackedCodes Codes(const torch::Tensor& features) const {
    torch::NoGradGuard no_grad;
    return Binarize(model_->Encode(Modality::kText, features).code.contiguous());
  }

  double Map(const WordEmbedder& embedder, const std::vector<std::string>& texts) const {
    return Evaluate(Codes(embedder.Embed(texts)), database_, relevance_).map;
  }

  // Returns the mAP of labels with the dictionary.
  double Line(const std::string& language) const {
    const auto label = Texts(language, false), all = Texts(language, true);
    const double found = Map(*with_, label);
    fmt::print("{:<8}  {:6.3f}  {:10.3f}  {:6.3f}  {:10.3f}\n", language, Map(*without_, label),
               Map(*without_, all), found, Map(*with_, all));
    return found;
  }

  // The captions of the five nearest pictures of all rows, each once.
  std::string Answer(const torch::Tensor& features) const {
    if (features.abs().sum().item<double>() == 0) return "(no known word)";
    Rows rows(data_.size());
    for (int64_t i = 0; i < data_.size(); ++i) rows[i] = i;
    const PackedCodes all = Binarize(EncodeRows(*model_, Modality::kImage, data_.image, rows));
    const PackedCodes asked = Codes(features);
    const auto distance = [&](int64_t row) {
      int bits = 0;
      for (size_t i = 0; i < asked.Code(0).size(); ++i) {
        bits += std::popcount(asked.Code(0)[i] ^ all.Code(row)[i]);
      }
      return bits;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int64_t a, int64_t b) { return distance(a) < distance(b); });
    std::string text;
    for (int i = 0; i < 5; ++i) {
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", data_.items.Cell(rows[i], "emoji"),
                          data_.items.Cell(rows[i], "caption"));
    }
    return text;
  }

  Dataset data_;
  std::unique_ptr<HashModel> model_;
  std::string packages_;
  std::unique_ptr<WordEmbedder> with_, without_;
  PackedCodes database_;
  Relevance relevance_;
};

int Main(int count, char** arguments) {
  if (count < 4) {
    fmt::print(stderr, "usage: {} DATASET BUNDLE PACKAGES [WORDS...]\n", arguments[0]);
    return 2;
  }
  const Bench bench(arguments[1], arguments[2], arguments[3]);
  for (int i = 4; i < count; ++i) bench.Ask(arguments[i]);
  if (count > 4) return EXIT_SUCCESS;
  const bool same = bench.OwnRows(), good = bench.Languages();
  fmt::print("{}\n", same && good ? "right" : "NOT as it should be");
  return same && good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace crossilo

int main(int count, char** arguments) {
  try {
    return crossilo::Main(count, arguments);
  } catch (const crossilo::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return EXIT_FAILURE;
  }
}

#include <cstdio>
#include <set>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/results.h"
#include "crossilo/cli/table.h"
#include "crossilo/data/npy.h"
#include "crossilo/embed/decode.h"
#include "crossilo/embed/embedder.h"
#include "crossilo/index/index.h"
#include "crossilo/models/bundle.h"
#include "crossilo/models/encode.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct SearchArguments {
  std::string bundle, data, codes, words, picture, among;
  std::vector<std::string> backbones;
  int64_t row = -1, k = 10;
  bool json = false;
};

struct Found {
  int64_t row;
  double distance;  // bits that differ, or 1 - cosine
};

// What was asked: a relaxed code, and the modality to look among.
struct Question {
  torch::Tensor relaxed;
  Modality among;
};

Question Ask(const SearchArguments& a, const Bundle& bundle, const HashModel& model,
             const Dataset& dataset) {
  Folders folders = {fs::path(a.bundle).parent_path(), a.data, "."};
  folders.insert(folders.end(), a.backbones.begin(), a.backbones.end());
  Modality asked = Modality::kText;
  torch::Tensor features;
  if (a.row >= 0) {
    if (a.row >= dataset.size()) throw Error("--row {}: rows end at {}", a.row, dataset.size() - 1);
    features = dataset.text.slice(0, a.row, a.row + 1).to(torch::kFloat);
  } else if (!a.picture.empty()) {
    asked = Modality::kImage;
    const auto embedder = MakePictureEmbedder(bundle.image_embedding, folders);
    features = embedder->Embed({ReadPicture(a.picture)});
  } else {
    features = MakeWordEmbedder(bundle.text_embedding, folders)->Embed({a.words});
    if (features.abs().sum().item<double>() == 0) {
      throw Error("none of the words in '{}' is known to this model; try others", a.words);
    }
  }
  Modality among = asked == Modality::kText ? Modality::kImage : Modality::kText;
  if (!a.among.empty()) among = a.among == "image" ? Modality::kImage : Modality::kText;
  torch::NoGradGuard no_grad;
  return {model.Encode(asked, features).code.contiguous(), among};
}

// Codes that `crossilo encode` made, if they are of this bundle.
Array StoredCodes(const SearchArguments& a, Modality among, int64_t samples, bool real,
                  int64_t dim) {
  const fs::path folder = a.codes;
  const Config about = Config::Load(folder / "codes.toml");
  if (about.Text("bundle_sha256", "", "") != Sha256OfFile(a.bundle)) {
    throw Error("{}: these codes were made with another bundle; run `crossilo encode` again",
                a.codes);
  }
  Array codes = ReadNpy(folder / (NameOf(among) + ".npy"));
  const std::vector<int64_t> shape = {samples, real ? dim : dim / 8};
  if (codes.shape != shape || codes.type != (real ? Dtype::kF32 : Dtype::kU8)) {
    throw Error("{}: not the codes of these {} samples; run `crossilo encode` again", a.codes,
                samples);
  }
  return codes;
}

std::vector<Found> FindBits(const torch::Tensor& query, PackedCodes codes, int64_t k) {
  std::vector<Found> found;
  const PackedCodes asked = Binarize(query);
  for (const Hit& hit : MakeFlatIndex(std::move(codes))->Search(asked.Code(0), k)) {
    found.push_back({hit.id, static_cast<double>(hit.distance)});
  }
  return found;
}

std::vector<Found> FindReal(const torch::Tensor& query, std::span<const float> database,
                            int64_t dim, int64_t k) {
  std::vector<Found> found;
  for (const CosineHit& hit :
       TopCosine({query.data_ptr<float>(), static_cast<size_t>(dim)}, database, dim, k)) {
    found.push_back({hit.id, 1 - hit.cosine});
  }
  return found;
}

std::vector<Found> Find(const SearchArguments& a, const Question& question, const Bundle& bundle,
                        const HashModel& model, const Dataset& dataset) {
  const int64_t dim = model.code_dims();
  // Words repeat: the same caption on three houses' drawings is one answer.
  const int64_t k = question.among == Modality::kText ? 10 * a.k : a.k;
  if (!a.codes.empty()) {
    const Array stored = StoredCodes(a, question.among, dataset.size(), bundle.real_valued(), dim);
    const auto bytes = stored.bytes;
    if (bundle.real_valued()) {
      return FindReal(question.relaxed,
                      {reinterpret_cast<const float*>(bytes.data()), bytes.size() / 4}, dim, k);
    }
    return FindBits(
        question.relaxed,
        PackedCodes::FromBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                               dataset.size(), static_cast<int>(dim)),
        k);
  }
  Rows rows(dataset.size());
  for (int64_t i = 0; i < dataset.size(); ++i) rows[i] = i;
  const torch::Tensor codes =
      EncodeRows(model, question.among,
                 question.among == Modality::kImage ? dataset.image : dataset.text, rows);
  if (!bundle.real_valued()) return FindBits(question.relaxed, Binarize(codes), k);
  return FindReal(question.relaxed, {codes.data_ptr<float>(), static_cast<size_t>(codes.numel())},
                  dim, k);
}

void Show(const SearchArguments& a, const std::vector<Found>& found, const Dataset& dataset,
          Modality among) {
  const Items& items = dataset.items;
  std::vector<std::string> columns;
  for (const char* column : {"emoji", "caption", "house"}) {
    if (items.Has(column)) columns.push_back(column);
  }
  std::vector<std::string> header = {"distance", "row"};
  header.insert(header.end(), columns.begin(), columns.end());
  Table table(header);
  Json hits = Json::array();
  std::set<std::string> captions;
  for (const Found& hit : found) {
    if (static_cast<int64_t>(hits.size()) == a.k) break;
    const std::string caption(items.Cell(hit.row, "caption"));
    if (among == Modality::kText && !caption.empty() && !captions.insert(caption).second) continue;
    std::vector<std::string> row = {fmt::format("{:g}", hit.distance), std::to_string(hit.row)};
    Json json = {{"distance", hit.distance}, {"row", hit.row}};
    for (const std::string& column : columns) {
      row.emplace_back(items.Cell(hit.row, column));
      json[column] = row.back();
    }
    table.Row(row);
    if (items.Has("picture")) json["picture"] = items.Cell(hit.row, "picture");
    hits.push_back(json);
  }
  std::fputs(a.json ? (Json{{"hits", hits}}.dump(2) + "\n").c_str() : table.Text().c_str(), stdout);
}

void Search(const SearchArguments& a) {
  if (int(!a.words.empty()) + int(!a.picture.empty()) + int(a.row >= 0) != 1) {
    throw Error("search needs one of: words, --picture FILE, --row N");
  }
  const Bundle bundle = ReadBundle(a.bundle);
  const Dataset dataset = OpenDataset(a.data);
  CheckFits(bundle, dataset);
  const auto model = MakeModel(bundle);
  const Question question = Ask(a, bundle, *model, dataset);
  Show(a, Find(a, question, bundle, *model, dataset), dataset, question.among);
}

}  // namespace

void AddSearch(CLI::App& app) {
  CLI::App* command = app.add_subcommand("search", "Find pictures by words, or words by a picture");
  auto a = std::make_shared<SearchArguments>();
  command->add_option("words", a->words, "What to look for");
  command->add_option("--picture", a->picture, "Look for words to this picture instead");
  command->add_option("--row", a->row, "Look for pictures to this sample's words instead");
  command->add_option("--bundle", a->bundle, "A trained model, bundle.safetensors")->required();
  command->add_option("--data", a->data, "A dataset folder")->required();
  command->add_option("--codes", a->codes, "Its codes, if `crossilo encode` made them before");
  command->add_option("--among", a->among, "image or text: what to look among")
      ->check(CLI::IsMember({"image", "text"}));
  command->add_option("--backbones", a->backbones, "Folders to look for backbone files in");
  command->add_option("-k", a->k, "How many hits")->check(CLI::PositiveNumber);
  command->add_flag("--json", a->json, "As JSON");
  command->footer(
      "\nExamples:\n"
      "  crossilo search --bundle b.safetensors --data data/emoji 'smiling cat'\n"
      "  crossilo search --bundle b.safetensors --data data/emoji --picture dog.png\n");
  command->callback([a] { Search(*a); });
}

}  // namespace crossilo

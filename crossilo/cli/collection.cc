#include "crossilo/cli/collection.h"

#include <charconv>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/lines.h"
#include "crossilo/cli/query_coder.h"
#include "crossilo/cli/results.h"
#include "crossilo/data/utf8.h"
#include "crossilo/index/durable.h"
#include "crossilo/index/generations.h"
#include "crossilo/models/encode.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBlock = 2048;
constexpr const char* kSourcesHelp =
    "the dataset folders its items came from, one a line, each after the id of its first row";
constexpr const char* kRowsHelp =
    "for each source how many ids, from its first row's on, are set aside for its rows";

Source ParseSource(const std::string& line, const fs::path& generation) {
  Source source;
  const char* end = line.data() + line.size();
  const auto [after, wrong] = std::from_chars(line.data(), end, source.first_id);
  if (wrong != std::errc{} || after == end || *after != ' ' || source.first_id < 0) {
    throw Error("{}: '{}' among the sources is no number and a folder",
                (generation / "collection.toml").string(), line);
  }
  source.path.assign(after + 1, end);
  return source;
}

// Every key is always written, so one that is missing was lost.
void CheckWhole(const Config& config, const fs::path& file) {
  std::vector<std::string> keys = {"format", "name", "sources", "silo_column", "level", "vectors"};
  if (config.Int("format", 2, "version of this description", 1, 2) == 2) keys.emplace_back("rows");
  for (const std::string& key : keys) {
    if (config.Has(key)) continue;
    throw Error("{}: has no '{}', so it is damaged; restore it from a copy", file.string(), key);
  }
}

// The names of the classes whose bit is set.
std::vector<std::string> ClassesOf(const Dataset& dataset, const std::string& level, int64_t row) {
  std::vector<std::string> classes;
  const auto labels = dataset.labels.find(level);
  if (labels == dataset.labels.end()) return classes;
  const auto names = dataset.class_names.find(level);
  const torch::Tensor bits = labels->second[row].contiguous();
  for (int64_t c = 0; c < bits.numel(); ++c) {
    if (bits.data_ptr<uint8_t>()[c] == 0) continue;
    const bool named =
        names != dataset.class_names.end() && c < static_cast<int64_t>(names->second.size());
    classes.push_back(named ? names->second[c] : fmt::format("class {}", c));
  }
  return classes;
}

}  // namespace

CollectionSettings ReadCollectionSettings(const fs::path& generation) {
  const Config config = Config::Load(generation / "collection.toml");
  CheckWhole(config, generation / "collection.toml");
  CollectionSettings settings;
  settings.name = config.Text("name", "", "what it is called");
  for (const std::string& line : SplitLines(config.Text("sources", "", kSourcesHelp))) {
    if (line.empty()) continue;
    settings.sources.push_back(ParseSource(line, generation));
  }
  const std::vector<int64_t> rows = config.Ints("rows", {}, kRowsHelp);
  if (!rows.empty() && rows.size() != settings.sources.size()) {
    throw Error("{}: {} sources but {} in 'rows'; restore it from a copy",
                (generation / "collection.toml").string(), settings.sources.size(), rows.size());
  }
  for (size_t s = 0; s < rows.size(); ++s) settings.sources[s].rows = rows[s];
  settings.silo_column = config.Text("silo_column", "", "the column that names an item's silo");
  settings.level = config.Text("level", "", "the labels that classes are named by");
  settings.vectors = config.Choice("vectors", "relaxed", {"relaxed", "features", "none"},
                                   "what is kept for re-ranking");
  config.Finish();
  return settings;
}

void WriteCollectionSettings(const fs::path& generation, const CollectionSettings& settings) {
  Config config;
  const auto text = [&](std::string_view key, const std::string& value, std::string_view help) {
    config.Text(key, value, help);
  };
  config.Int("format", 2, "version of this description");
  text("name", settings.name, "what it is called");
  std::string sources;
  std::vector<int64_t> rows;
  for (const Source& source : settings.sources) {
    rows.push_back(source.rows);
    sources += fmt::format("{} {}\n", source.first_id, source.path);
  }
  text("sources", sources, kSourcesHelp);
  config.Ints("rows", rows, kRowsHelp);
  text("silo_column", settings.silo_column, "the column that names an item's silo");
  text("level", settings.level, "the labels that classes are named by");
  text("vectors", settings.vectors, "what is kept for re-ranking");
  WriteDurably(generation / "collection.toml", [&](const Put& put) { put(config.Resolved()); });
}

std::string SourcePath(const fs::path& data) {
  std::error_code failed;
  std::string path = fs::canonical(data, failed).string();
  if (failed) throw Error("{}: cannot open the dataset: {}", data.string(), failed.message());
  const auto control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  if (!IsUtf8(path) || std::any_of(path.begin(), path.end(), control)) {
    throw Error(
        "{}: a collection cannot note down this folder, for its name has line ends, control "
        "characters or bytes that are no UTF-8; rename it",
        Json(path).dump(-1, ' ', true, Json::error_handler_t::replace));
  }
  return path;
}

CodedDataset::CodedDataset(const Bundle& bundle, const HashModel& model, const Dataset& dataset,
                           const CollectionSettings& settings, int source)
    : model_(model),
      dataset_(dataset),
      settings_(settings),
      source_(source),
      real_valued_(bundle.real_valued()) {
  CheckFits(bundle, dataset);
  if (!settings.silo_column.empty() && !dataset.items.Has(settings.silo_column)) {
    throw Error("{} has no column '{}' to name silos by; it has: {}", dataset.name,
                settings.silo_column, fmt::join(dataset.items.columns, ", "));
  }
  if (!settings.level.empty()) dataset.Labels(settings.level);
}

int64_t CodedDataset::numbers() const {
  for (int64_t row = 0; row < size(); ++row) {
    if (!HasId(row)) return size();
  }
  return 0;
}

void CodedDataset::Fill(int64_t row) {
  begin_ = row;
  end_ = std::min(row + kBlock, size());
  Rows rows;
  for (int64_t i = begin_; i < end_; ++i) rows.push_back(i);
  for (const Modality m : kModalities) {
    const torch::Tensor& features = m == Modality::kImage ? dataset_.image : dataset_.text;
    const torch::Tensor relaxed = EncodeRows(model_, m, features, rows);
    const int column = static_cast<int>(m);
    codes_[column] = StoredRows(relaxed, real_valued_);
    vectors_[column] = settings_.vectors == "features"
                           ? features.slice(0, begin_, end_).to(torch::kFloat).contiguous()
                           : relaxed;
  }
}

std::string CodedDataset::NameOf(int64_t row) const {
  if (HasId(row)) return std::string(dataset_.items.Cell(row, "id"));
  return std::to_string(settings_.sources[source_].first_id + row);
}

Item CodedDataset::Described(int64_t row) const {
  const Items& items = dataset_.items;
  const std::string name = NameOf(row);
  Json facts = {{"name", name}, {"source", source_}};
  for (const std::string& column : items.columns) {
    const std::string_view cell = items.Cell(row, column);
    if (column != "id" && column != "name" && column != "source" && !cell.empty()) {
      facts[column] = cell;
    }
  }
  Item item;
  item.id = IdOf(name);
  item.silo = settings_.silo_column.empty() ? dataset_.name
                                            : std::string(items.Cell(row, settings_.silo_column));
  item.classes = ClassesOf(dataset_, settings_.level, row);
  item.facts = facts.dump(-1, ' ', false, Json::error_handler_t::replace);
  return item;
}

Item CodedDataset::At(int64_t row) {
  if (row < begin_ || row >= end_) Fill(row);
  Item item = Described(row);
  for (int column = 0; column < 2; ++column) {
    const size_t width = codes_[column].size() / (end_ - begin_);
    const auto code = codes_[column].begin() + (row - begin_) * width;
    item.codes.emplace_back(code, code + width);
    item.vectors.emplace_back();
    if (settings_.vectors == "none") continue;
    const float* values = vectors_[column][row - begin_].data_ptr<float>();
    item.vectors.back().assign(values, values + vectors_[column].size(1));
  }
  return item;
}

Schema SchemaOf(const Bundle& bundle, const HashModel& model, const std::string& bundle_sha256,
                const CollectionSettings& settings) {
  const int dims = static_cast<int>(model.code_dims());
  Schema schema = {.columns = {NameOf(Modality::kImage), NameOf(Modality::kText)},
                   .model = bundle_sha256};
  (bundle.real_valued() ? schema.dims : schema.bits) = dims;
  if (settings.vectors == "relaxed") {
    schema.vector_dims = {dims, dims};
  } else if (settings.vectors == "features") {
    schema.vector_dims = {static_cast<int>(bundle.shape.image_dims),
                          static_cast<int>(bundle.shape.text_dims)};
  }
  if (!schema.vector_dims.empty()) schema.vectors = settings.vectors;
  return schema;
}

void CheckModel(const Store& store, const fs::path& generation) {
  if (store.schema().model == Sha256OfFile(generation / "bundle.safetensors")) return;
  throw Error(
      "{}: the codes were made with another bundle than the one beside them; run "
      "`crossilo index reencode`",
      generation.string());
}

std::unique_ptr<Store> OpenItems(const fs::path& generation, const StoreOptions& options) {
  ReadCollectionSettings(generation);
  auto store = Store::Open(generation / "items.cxi", options);
  CheckModel(*store, generation);
  return store;
}

std::shared_ptr<Site> OpenCollection(const fs::path& collection,
                                     const std::vector<std::string>& backbones,
                                     const StoreOptions& options, int generation) {
  if (generation == 0) generation = CurrentGeneration(collection);
  const fs::path folder = GenerationFolder(collection, generation);
  const CollectionSettings settings = ReadCollectionSettings(folder);
  auto store = OpenItems(folder, options);
  const Bundle bundle = ReadBundle(folder / "bundle.safetensors");
  std::vector<fs::path> sources;
  for (const Source& source : settings.sources) sources.emplace_back(source.path);
  Folders folders = sources;
  folders.emplace_back(".");
  folders.insert(folders.end(), backbones.begin(), backbones.end());
  return std::make_shared<Site>(settings.name, generation, std::move(store),
                                MakeQueryCoder(bundle, folders), std::move(sources));
}

fs::path StorePath(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return path;
  return GenerationFolder(path, CurrentGeneration(path)) / "items.cxi";
}

}  // namespace crossilo

#include <chrono>
#include <cstdio>
#include <numeric>
#include <set>

#include "crossilo/base/digest.h"
#include "crossilo/base/elapsed.h"
#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/nearest.h"
#include "crossilo/cli/collection.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/query_coder.h"
#include "crossilo/cli/results.h"
#include "crossilo/cli/table.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/index/index.h"
#include "crossilo/models/encode.h"
#include "crossilo/serve/question.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct SearchArguments {
  std::string in, bundle, data, code, picture, like, among, words;
  std::vector<std::string> backbones, silos, classes;
  int64_t row = -1, k = 10, offset = 0;
  float radius = Policy::kAnyDistance;
  std::string index = "auto";
  bool rerank = false, json = false;
};

// "5667 items in 0.13 ms (flat), 8.2 ms to read the question"
std::string Summary(const SearchReply& reply) {
  std::string text =
      fmt::format("\n{} {} in {:.3g} ms ({})", reply.searched,
                  reply.searched == 1 ? "item" : "items", 1e3 * reply.search_seconds, reply.index);
  if (reply.coding_seconds > 0) {
    text += fmt::format(", {:.2g} ms to read the question", 1e3 * reply.coding_seconds);
  }
  if (reply.items.empty()) text += "; nothing found";
  return text + "\n";
}

// A fact that is text; "" where it is missing or something else.
std::string TextOf(const Json& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

// Hits as a table or as JSON; the facts are what a person sees.
void Show(const SearchArguments& a, const SearchReply& reply) {
  std::vector<Json> facts;
  std::vector<std::string> columns;
  for (const FoundItem& found : reply.items) {
    facts.push_back(Json::parse(found.item.facts, nullptr, false));
    if (!facts.back().is_object()) facts.back() = Json::object();
  }
  for (const char* column : {"emoji", "caption"}) {
    for (const Json& one : facts) {
      if (!one.contains(column)) continue;
      columns.emplace_back(column);
      break;
    }
  }
  std::vector<std::string> headings = {"distance", "item"};
  headings.insert(headings.end(), columns.begin(), columns.end());
  headings.emplace_back("silo");
  TextTable table(headings);
  Json hits = Json::array();
  for (size_t i = 0; i < reply.items.size(); ++i) {
    const FoundItem& found = reply.items[i];
    std::string name = TextOf(facts[i], "name");
    if (name.empty()) name = std::to_string(found.item.id);
    std::vector<std::string> row = {fmt::format("{:.4g}", found.distance), name};
    for (const std::string& column : columns) row.push_back(TextOf(facts[i], column));
    row.push_back(found.item.silo);
    table.Row(row);
    Json hit = {{"id", std::to_string(found.item.id)},
                {"name", name},
                {"distance", found.distance},
                {"silo", found.item.silo}};
    if (!found.item.classes.empty()) hit["classes"] = found.item.classes;
    for (const auto& [key, value] : facts[i].items()) {
      if (!hit.contains(key)) hit[key] = value;
    }
    hits.push_back(hit);
  }
  const Json all = {
      {"among", reply.among},
      {"hits", hits},
      {"more", reply.more},
      {"searched", reply.searched},
      {"measure", reply.measure},
      {"index", reply.index},
      {"seconds", {{"coding", reply.coding_seconds}, {"search", reply.search_seconds}}}};
  // Names come from a file; bytes that are no UTF-8 must not end this.
  const std::string json = all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fputs(a.json ? json.c_str() : (table.Text() + Summary(reply)).c_str(), stdout);
}

SearchRequest Request(const SearchArguments& a) {
  SearchRequest request = {.words = a.words, .among = a.among, .k = a.k, .offset = a.offset};
  if (!a.picture.empty()) request.picture = ReadFile(a.picture);
  if (!a.like.empty()) request.like = IdOf(a.like);
  request.radius = a.radius;
  request.filter = {.silos = a.silos, .classes = a.classes};
  request.rerank = a.rerank;
  return request;
}

void CheckBundle(const SearchArguments& a, const Schema& schema) {
  if (!a.bundle.empty() && schema.model != Sha256OfFile(a.bundle)) {
    throw Error("{}: its codes were made with another model than {}", a.in, a.bundle);
  }
}

// A name that no item has would find nothing, and look like an answer.
void CheckNames(const char* option, const std::vector<std::string>& asked,
                const std::vector<std::pair<std::string, int64_t>>& there) {
  std::vector<std::string> known;
  for (const auto& [name, items] : there) known.push_back(name);
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error("{} {}: no item has it{}", option, name, Suggestion(name, known));
  }
}

void SearchCollection(const SearchArguments& a) {
  if (fs::is_regular_file(a.in)) {
    throw Error("{} is an index file: ask it with --code, or its collection with words", a.in);
  }
  const auto site = OpenCollection(a.in, a.backbones, {.index = a.index});
  const Store& store = site->store();
  CheckBundle(a, store.schema());
  CheckNames("--silo", a.silos, store.Silos());
  CheckNames("--class", a.classes, store.Classes());
  const SearchRequest request = Request(a);
  if (request.like >= 0 && !store.Find(request.like)) {
    throw Error("{}: there is no item {}", a.in, a.like);
  }
  Show(a, site->Search(request));
}

// One code against an index file that has nothing but codes.
void SearchByCode(const SearchArguments& a) {
  const auto store = Store::Open(StorePath(a.in), {.index = a.index});
  const Schema& schema = store->schema();
  if (a.rerank) throw Error("--rerank needs words or a picture: a code alone has no more to say");
  if (schema.bits == 0)
    throw Error("{}: its rows are real-valued; a code cannot be compared", a.in);
  CheckBundle(a, schema);
  if (a.code.size() * 4 != static_cast<size_t>(schema.bits) ||
      a.code.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    throw Error("--code takes {} hexadecimal digits, two a byte, first byte first",
                schema.bits / 4);
  }
  std::vector<std::byte> query(RowBytes(schema.bits));
  for (size_t i = 0; i < a.code.size() / 2; ++i) {
    query[i] = static_cast<std::byte>(std::stoi(a.code.substr(2 * i, 2), nullptr, 16));
  }
  const int column = ColumnOf(schema, a.among.empty() ? schema.columns[0] : a.among);
  const int64_t offset = std::min(a.offset, store->size()), k = std::min(a.k, store->size());
  // One more tells whether there are more.
  const Policy policy = {.k = offset + k + 1, .radius = a.radius};
  const Filter filter = {.silos = a.silos, .classes = a.classes};
  SearchReply reply = {.among = schema.columns[column],
                       .searched = store->Count(column, filter),
                       .index = store->index_kind(column),
                       .measure = "bits"};
  const auto start = std::chrono::steady_clock::now();
  const auto hits = store->Search(column, query, policy, filter)[0];
  reply.search_seconds = SecondsSince(start);
  reply.more = std::ssize(hits) > offset + k;
  for (int64_t i = offset; i < std::min(std::ssize(hits), offset + k); ++i) {
    const int64_t id = hits[i].id;
    reply.items.push_back({store->Find(id).value_or(Item{.id = id}), hits[i].distance});
  }
  Show(a, reply);
}

// A bundle and a dataset without a collection: everything is coded first.
void SearchDataset(const SearchArguments& a) {
  if (!a.silos.empty() || !a.classes.empty() || a.offset > 0 || a.rerank) {
    throw Error(
        "--silo, --class, --offset and --rerank need a collection: see `crossilo index build`");
  }
  const Bundle bundle = ReadBundle(a.bundle);
  const Dataset dataset = OpenDataset(a.data);
  const auto model = MakeModel(bundle);
  Folders folders = {fs::path(a.bundle).parent_path(), a.data, "."};
  folders.insert(folders.end(), a.backbones.begin(), a.backbones.end());
  CollectionSettings settings = {.sources = {{a.data, 0}}, .vectors = "none"};
  if (dataset.items.Has("house")) settings.silo_column = "house";
  CodedDataset coded(bundle, *model, dataset, settings, 0);

  const auto coded_rows = [&](Modality modality, const Rows& rows) {
    const torch::Tensor& features = modality == Modality::kImage ? dataset.image : dataset.text;
    return StoredRows(EncodeRows(*model, modality, features, rows), bundle.real_valued());
  };
  std::vector<std::byte> query;
  Modality asked = Modality::kText;
  if (a.row >= 0) {
    if (a.row >= dataset.size()) throw Error("--row {}: rows end at {}", a.row, dataset.size() - 1);
    query = coded_rows(asked, {a.row});
  } else {
    const auto coder = MakeQueryCoder(bundle, folders);
    if (!a.picture.empty()) asked = Modality::kImage;
    query = (a.picture.empty() ? coder->Words(a.words) : coder->Picture(ReadFile(a.picture))).code;
  }
  Modality among = asked == Modality::kText ? Modality::kImage : Modality::kText;
  if (!a.among.empty()) among = a.among == "image" ? Modality::kImage : Modality::kText;

  Rows all(dataset.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::byte> rows = coded_rows(among, all);
  const auto dims = static_cast<int>(model->code_dims());
  const Table table = {rows.data(), coded.size(), bundle.real_valued() ? 0 : dims,
                       bundle.real_valued() ? dims : 0};
  const auto index = bundle.real_valued() ? MakeCosineIndex(table) : MakeFlatIndex(table);
  SearchReply reply = {.among = NameOf(among),
                       .searched = coded.size(),
                       .index = std::string(index->kind()),
                       .measure = bundle.real_valued() ? "cosine" : "bits"};
  std::set<std::string> captions;  // among texts, the same caption is one answer
  const auto start = std::chrono::steady_clock::now();
  const int64_t most = among == Modality::kText ? coded.size() : a.k;
  const auto answers = index->Search(query, {.k = most, .radius = a.radius});
  reply.search_seconds = SecondsSince(start);
  for (const SlotHit& hit : answers[0]) {
    if (static_cast<int64_t>(reply.items.size()) == a.k) break;
    const std::string caption(dataset.items.Cell(hit.slot, "caption"));
    if (among == Modality::kText && !caption.empty() && !captions.insert(caption).second) continue;
    reply.items.push_back({coded.Described(hit.slot), hit.distance});
  }
  Show(a, reply);
}

void Search(const SearchArguments& a) {
  const int questions = int(!a.words.empty()) + int(!a.picture.empty()) + int(a.row >= 0) +
                        int(!a.like.empty()) + int(!a.code.empty());
  if (questions != 1) {
    throw Error("search needs one of: words, --picture FILE, --like ITEM, --row N, --code HEX");
  }
  if (!(a.radius >= 0)) throw Error("--radius {}: a distance is 0 or more", a.radius);
  if (!a.in.empty() && !a.code.empty()) return SearchByCode(a);
  if (!a.in.empty() && a.row < 0) return SearchCollection(a);
  if (!a.in.empty()) throw Error("--row is a sample of --data: give --bundle and --data, not --in");
  if (a.bundle.empty() || a.data.empty() || !a.like.empty() || !a.code.empty()) {
    throw Error(
        "say what to search: --in COLLECTION, or --bundle and --data (words, --picture, --row)");
  }
  SearchDataset(a);
}

}  // namespace

void AddSearch(CLI::App& app) {
  CLI::App* command = app.add_subcommand("search", "Find pictures by words, or words by a picture");
  auto a = std::make_shared<SearchArguments>();
  command->add_option("words", a->words, "What to look for");
  command->add_option("--picture", a->picture, "Look for words to this picture instead");
  command->add_option("--like", a->like, "Look for items like this one, by its name");
  command->add_option("--code", a->code, "Look for this code, in hexadecimal digits");
  command->add_option("--row", a->row, "Look for pictures to this sample's words instead");
  command->add_option("--in", a->in,
                      "A collection that `crossilo index build` made, or an index file");
  command->add_option("--bundle", a->bundle, "Without a collection: a trained model");
  command->add_option("--data", a->data, "Without a collection: a dataset folder");
  command->add_option("--among", a->among, "image or text: what to look among")
      ->check(CLI::IsMember({"image", "text"}));
  command->add_option("--silo", a->silos, "Only items of this silo; may be given several times")
      ->allow_extra_args(false);
  command->add_option("--class", a->classes, "Only items of this class; may be given several times")
      ->allow_extra_args(false);
  command->add_option("--radius", a->radius, "None farther than this");
  command->add_flag("--rerank", a->rerank,
                    "Put the nearest in a finer order, by what is stored besides codes");
  command->add_option("--index", a->index, "auto, flat or mih")
      ->check(CLI::IsMember({"auto", "flat", "mih"}));
  command->add_option("--backbones", a->backbones, "Folders to look for backbone files in");
  command->add_option("-k", a->k, "How many hits")->check(AtLeast(1));
  command->add_option("--offset", a->offset, "Leave out so many of the nearest")->check(AtLeast(0));
  command->add_flag("--json", a->json, "As JSON");
  command->footer(
      "\nExamples:\n"
      "  crossilo search --in found/emoji 'smiling cat'\n"
      "  crossilo search --in found/emoji --picture dog.png --silo google\n"
      "  crossilo search --bundle b.safetensors --data data/emoji 'smiling cat'\n");
  command->callback([a] { Search(*a); });
}

}  // namespace crossilo

#include <algorithm>
#include <cstdio>

#include "crossilo/base/digest.h"
#include "crossilo/base/error.h"
#include "crossilo/cli/collection.h"
#include "crossilo/cli/index_commands.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/data/npy.h"
#include "crossilo/index/foreign.h"
#include "crossilo/serve/question.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct ExchangeArguments {
  std::string store, faiss, npy, ids, column, bundle, index = "auto";
};

std::vector<int64_t> ReadIds(const fs::path& path) {
  const Array array = ReadNpy(path);
  if (array.type != Dtype::kI64 || array.shape.size() != 1) {
    throw Error("{}: ids are int64, one dimension", path.string());
  }
  const auto* values = reinterpret_cast<const int64_t*>(array.bytes.data());
  return {values, values + array.shape[0]};
}

void CheckFiles(const ExchangeArguments& a) {
  if (a.faiss.empty() == a.npy.empty()) throw Error("say either --faiss FILE or --npy FILE");
  if (!a.faiss.empty() && !a.ids.empty()) {
    throw Error("--ids goes with --npy: a faiss file has its ids inside");
  }
}

// The store would refuse them too, but only when its lock is there already.
void CheckIds(std::vector<int64_t> ids, int64_t count) {
  if (ids.empty()) return;
  if (std::ssize(ids) != count) throw Error("{} codes but {} ids", count, ids.size());
  std::sort(ids.begin(), ids.end());
  if (ids[0] < 0) throw Error("an id is {}; ids must not be negative", ids[0]);
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) throw Error("two codes have the id {}; give each its own", *twice);
}

ForeignCodes ReadCodes(const ExchangeArguments& a) {
  CheckFiles(a);
  if (!a.faiss.empty()) return ReadFaiss(a.faiss);
  const Array array = ReadNpy(a.npy);
  if (array.type != Dtype::kU8 || array.shape.size() != 2 || array.shape[1] > 128) {
    throw Error("{}: codes are uint8, a row of bits / 8 bytes each, at most 128", a.npy);
  }
  ForeignCodes codes;
  codes.codes = PackedCodes::FromBytes(
      {reinterpret_cast<const uint8_t*>(array.bytes.data()), array.bytes.size()}, array.shape[0],
      static_cast<int>(8 * array.shape[1]));
  if (!a.ids.empty()) codes.ids = ReadIds(a.ids);
  return codes;
}

void Import(const ExchangeArguments& a) {
  const ForeignCodes codes = ReadCodes(a);
  const int64_t count = codes.codes.size();
  CheckIds(codes.ids, count);
  const std::vector<std::byte> rows = ToRows(codes.codes);
  const size_t width = RowBytes(codes.codes.bits());
  Schema schema = {.columns = {a.column.empty() ? "image" : a.column}, .bits = codes.codes.bits()};
  if (!a.bundle.empty()) {
    ReadBundle(a.bundle);  // throws where it is none
    schema.model = Sha256OfFile(a.bundle);
  }
  const auto item = [&](int64_t i) {
    Item one;
    one.id = codes.ids.empty() ? i : codes.ids[i];
    one.codes = {{rows.begin() + i * width, rows.begin() + (i + 1) * width}};
    return one;
  };
  Store::Create(a.store, schema, count, item, {.index = a.index});
  std::printf("%s: %lld codes of %d bits; %s\n", a.store.c_str(), static_cast<long long>(count),
              schema.bits, Store::Open(a.store)->schema().choice.c_str());
}

void Export(const ExchangeArguments& a) {
  CheckFiles(a);
  const auto store = Store::Open(StorePath(a.store));
  const Schema& schema = store->schema();
  if (schema.bits == 0) throw Error("{}: its rows are real-valued, not codes", a.store);
  const int column = ColumnOf(schema, a.column.empty() ? schema.columns[0] : a.column);
  std::vector<std::byte> rows;
  ForeignCodes codes;
  store->ForEach([&](const Item& item) {
    if (item.codes[column].empty()) return true;
    rows.insert(rows.end(), item.codes[column].begin(), item.codes[column].end());
    codes.ids.push_back(item.id);
    return true;
  });
  codes.codes = FromRows(rows, schema.bits);
  const int64_t count = codes.codes.size();
  if (!a.faiss.empty()) {
    WriteFaiss(a.faiss, codes);
  } else {
    const std::vector<uint8_t> bytes = codes.codes.ToBytes();
    WriteNpy(a.npy, Dtype::kU8, {count, schema.bits / 8}, std::as_bytes(std::span(bytes)));
    if (!a.ids.empty()) {
      WriteNpy(a.ids, Dtype::kI64, {count}, std::as_bytes(std::span(codes.ids)));
    }
  }
  std::printf("%lld codes of %d bits written\n", static_cast<long long>(count), schema.bits);
}

}  // namespace

void AddIndexExchange(CLI::App& index) {
  auto a = std::make_shared<ExchangeArguments>();
  CLI::App* in = index.add_subcommand("import", "Make an index file of codes from elsewhere");
  in->add_option("file", a->store, "The index file to write, such as codes.cxi")->required();
  in->add_option("--bundle", a->bundle, "The model that made them: others are then refused");
  in->add_option("--index", a->index, "auto, flat or mih")
      ->check(CLI::IsMember({"auto", "flat", "mih"}));
  in->callback([a] { Import(*a); });
  CLI::App* out = index.add_subcommand("export", "Write codes for others to read");
  out->add_option("collection", a->store, "A collection's folder or an index file")->required();
  out->callback([a] { Export(*a); });
  for (CLI::App* command : {in, out}) {
    command->add_option("--faiss", a->faiss, "A faiss IndexBinaryFlat or IndexBinaryIDMap file");
    command->add_option("--npy", a->npy, "uint8, a row of bits / 8 bytes a code");
    command->add_option("--ids", a->ids, "int64 .npy with an id for each row of --npy");
    command->add_option("--column", a->column, "image or text");
  }
}

}  // namespace crossilo

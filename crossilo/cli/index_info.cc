#include <algorithm>
#include <cstdio>

#include "crossilo/cli/collection.h"
#include "crossilo/cli/index_commands.h"
#include "crossilo/cli/results.h"
#include "crossilo/cli/table.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

Json About(const std::string& collection, const Store& store) {
  const Schema& schema = store.schema();
  Json about = {{"items", store.size()}, {"logged", store.logged()}};
  if (IsFolder(collection)) {
    about["generation"] = CurrentGeneration(collection);
    about["generations"] = Generations(collection);
  }
  (schema.bits > 0 ? about["bits"] : about["dims"]) = schema.bits > 0 ? schema.bits : schema.dims;
  about["model"] = schema.model;
  about["rerank"] = schema.vectors;
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const int column = static_cast<int>(c);
    about["columns"].push_back({{"name", schema.columns[c]},
                                {"items", store.Count(column, {})},
                                {"index", store.index_kind(column)}});
  }
  about["choice"] = schema.choice;
  const auto silos = store.Silos();
  about["silos"] = std::count_if(silos.begin(), silos.end(),
                                 [](const auto& silo) { return !silo.first.empty(); });
  about["classes"] = store.Classes().size();
  about["bytes"] = fs::file_size(StorePath(collection));
  return about;
}

}  // namespace

void ShowInfo(const std::string& collection, bool verify, bool json) {
  const auto store = Store::Open(StorePath(collection));
  if (verify) store->Verify();
  if (verify && IsFolder(collection)) OpenItems(fs::path(StorePath(collection)).parent_path());
  Json about = About(collection, *store);
  if (verify) about["verified"] = true;
  if (json) {
    std::printf("%s\n", about.dump(2).c_str());
    return;
  }
  TextTable table({"what", ""});
  for (const auto& [key, value] : about.items()) {
    if (key == "columns") {
      for (const Json& column : value) {
        table.Row({column["name"], fmt::format("{} items, {}", column["items"].dump(),
                                               column["index"].get<std::string>())});
      }
    } else if (value != "") {
      table.Row({key, value.is_string() ? value.get<std::string>() : value.dump()});
    }
  }
  std::fputs(table.Text().c_str(), stdout);
}

void AddIndexInfo(CLI::App& index) {
  struct Arguments {
    std::string collection;
    bool verify = false, json = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = index.add_subcommand("info", "What is in it, and how it is searched");
  command->add_option("collection", a->collection, "The collection's folder")->required();
  command->add_flag("--verify", a->verify, "Read every byte and compare the checksums");
  command->add_flag("--json", a->json, "As JSON");
  command->callback([a] { ShowInfo(a->collection, a->verify, a->json); });
}

}  // namespace crossilo

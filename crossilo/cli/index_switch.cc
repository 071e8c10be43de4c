#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/cli/collection.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/index_commands.h"

namespace crossilo {
namespace {

// The items that served until now; null where they cannot be opened, which may
// be why others are wanted.
std::unique_ptr<Store> OpenCurrent(const std::string& collection) {
  try {
    return Store::Open(StorePath(collection));
  } catch (const Error&) {
    return nullptr;
  }
}

int64_t CountMissing(const Store& from, const Store& in) {
  int64_t missing = 0;
  from.ForEach([&](const Item& item) {
    missing += in.Find(item.id) ? 0 : 1;
    return true;
  });
  return missing;
}

// Generations do not share what was added and removed since they were made.
void WarnOfOtherItems(const Store& from, const Store& to) {
  const int64_t lost = CountMissing(from, to), back = CountMissing(to, from);
  if (lost + back == 0) return;
  std::fprintf(stderr,
               "warning: the generation that served until now had %s; %lld of them are not in this "
               "one, and %lld of this one's were not in it\n",
               Counted(from.size()).c_str(), static_cast<long long>(lost),
               static_cast<long long>(back));
}

int GenerationBefore(const std::string& collection) {
  const int current = CurrentGeneration(collection);
  int before = 0;
  for (const int other : Generations(collection)) {
    if (other < current) before = other;
  }
  if (before == 0) throw Error("there is no generation before {} to go back to", current);
  return before;
}

void Switch(const std::string& collection, int generation) {
  const auto lock = LockCollection(collection);
  if (generation == 0) generation = GenerationBefore(collection);
  CheckComplete(collection, generation);
  const auto to = OpenItems(GenerationFolder(collection, generation));
  const auto from = OpenCurrent(collection);
  SwitchTo(collection, generation);
  std::printf("generation %d serves: %s\n", generation, Counted(to->size()).c_str());
  if (from != nullptr) WarnOfOtherItems(*from, *to);
}

}  // namespace

void AddIndexSwitch(CLI::App& index) {
  struct Arguments {
    std::string collection;
    int generation = 0;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      index.add_subcommand("switch", "Serve another generation; without a number, the one before");
  command->add_option("collection", a->collection, "The collection's folder")->required();
  command->add_option("generation", a->generation, "Its number")->check(AtLeast(1));
  command->callback([a] { Switch(a->collection, a->generation); });
}

}  // namespace crossilo

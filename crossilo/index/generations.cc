#include "crossilo/index/generations.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/index/durable.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "generation-", kDraft = ".draft-", kRemoved = "removed-";

// The number a text is, written without leading zeros; nothing for any other.
std::optional<int> NumberOf(std::string_view text) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 1 || text[0] == '0') {
    return {};
  }
  return number;
}

bool IsComplete(const fs::path& folder) {
  std::error_code failed;
  return fs::is_regular_file(folder / "items.cxi", failed);
}

// Whether we made it: others may keep something under a name like it.
bool IsDraft(std::string_view name) {
  if (!name.starts_with(kDraft)) return false;
  name.remove_prefix(kDraft.size());
  if (name.starts_with(kRemoved)) name.remove_prefix(kRemoved.size());
  return NumberOf(name).has_value();
}

// What a killed process left, or what could not be deleted the last time.
void RemoveDrafts(const fs::path& collection) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(collection, failed)) {
    if (IsDraft(entry.path().filename().string())) RemoveAll(entry.path(), failed);
  }
}

std::string Listed(const std::vector<int>& generations) {
  return generations.empty() ? "none" : fmt::format("{}", fmt::join(generations, ", "));
}

// There is no `current`: says why, and what to do.
[[noreturn]] void RefuseWithoutCurrent(const fs::path& collection, const std::error_code& failed) {
  if (failed) throw Error("{}: cannot be read: {}", collection.string(), failed.message());
  if (const std::vector<int> whole = Generations(collection); !whole.empty()) {
    throw Error(
        "{}: is not there; write the number of the generation to search into it, one of: {}",
        (collection / "current").string(), Listed(whole));
  }
  throw Error(
      "{}: no collection, or one whose first generation was never finished; make it "
      "with 'crossilo index build'",
      collection.string());
}

void Rename(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed) throw Error("{}: cannot put in place: {}", to.string(), failed.message());
}

}  // namespace

fs::path GenerationFolder(const fs::path& collection, int generation) {
  return collection / (std::string(kPrefix) + std::to_string(generation));
}

int CurrentGeneration(const fs::path& collection) {
  std::error_code failed;
  if (!fs::is_directory(collection, failed)) {
    if (failed == std::errc::permission_denied) RefuseWithoutCurrent(collection, failed);
    throw Error("{}: no such collection; make one with 'crossilo index build'",
                collection.string());
  }
  const fs::path file = collection / "current";
  if (!fs::exists(file, failed)) RefuseWithoutCurrent(collection, failed);
  std::string text = ReadFile(file);
  if (text.ends_with('\n')) text.pop_back();
  const std::optional<int> generation = NumberOf(text);
  if (generation && IsComplete(GenerationFolder(collection, *generation))) return *generation;
  throw Error(
      "{}: names no generation that is there (complete are: {}); write the number of one "
      "of those into it",
      file.string(), Listed(Generations(collection)));
}

std::vector<int> Generations(const fs::path& collection) {
  std::vector<int> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(collection, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !IsComplete(entry.path())) continue;
    if (const auto number = NumberOf(std::string_view(name).substr(kPrefix.size()))) {
      found.push_back(*number);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void CheckComplete(const fs::path& collection, int generation) {
  if (IsComplete(GenerationFolder(collection, generation))) return;
  throw Error("{}: no complete generation {}; there are: {}", collection.string(), generation,
              Listed(Generations(collection)));
}

void SwitchTo(const fs::path& collection, int generation) {
  CheckComplete(collection, generation);
  WriteDurably(collection / "current",
               [&](const Put& put) { put(std::to_string(generation) + "\n"); });
}

Draft BeginGeneration(const fs::path& collection) {
  RemoveDrafts(collection);
  // A folder that is not complete keeps its number too, so that Complete finds
  // the name free.
  Draft draft{.generation = 1};
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(collection, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const auto number = NumberOf(std::string_view(name).substr(kPrefix.size()));
    if (number) draft.generation = std::max(draft.generation, *number + 1);
  }
  draft.folder = collection / (std::string(kDraft) + std::to_string(draft.generation));
  MakeFolders(draft.folder);
  return draft;
}

void Complete(const fs::path& collection, const Draft& draft) {
  if (!IsComplete(draft.folder)) {
    throw Error("{}: has no items.cxi, so it is no complete generation", draft.folder.string());
  }
  SyncFolder(draft.folder);
  Rename(draft.folder, GenerationFolder(collection, draft.generation));
  SyncFolder(collection);
}

std::vector<int> PruneGenerations(const fs::path& collection, int before) {
  const int current = CurrentGeneration(collection);
  const std::vector<int> whole = Generations(collection);
  std::vector<int> pruned;
  const auto here = std::lower_bound(whole.begin(), whole.end(), current);
  if (before == 0 && here != whole.begin()) before = *(here - 1);
  for (const int generation : whole) {
    if (generation >= current || generation == before) continue;
    // Under a draft's name first, so that a killed deletion leaves no half of one.
    Rename(GenerationFolder(collection, generation),
           collection / fmt::format("{}{}{}", kDraft, kRemoved, generation));
    pruned.push_back(generation);
  }
  RemoveDrafts(collection);
  return pruned;
}

WriterLock::WriterLock(const fs::path& file) {
  std::error_code failed;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), failed);
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw Error("{}: cannot create: {}", file.string(), SystemMessage());
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const bool taken = errno == EWOULDBLOCK;
  const std::string reason =
      taken ? "another process is changing it; wait until that has ended" : SystemMessage();
  ::close(descriptor_);
  throw Error("{}: cannot lock: {}", file.string(), reason);
}

WriterLock::~WriterLock() { ::close(descriptor_); }

}  // namespace crossilo

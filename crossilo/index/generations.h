#pragma once

#include <filesystem>
#include <vector>

namespace crossilo {

// A collection is a folder with a folder for each generation of its codes and
// a file `current` that names the one that is searched:
//   current          "2\n"
//   generation-1/    items.cxi (see Store), bundle.safetensors, collection.toml
//   generation-2/
// A new model means a new generation, made beside the old one while that goes
// on serving; switching is one atomic rename, and so is switching back.

std::filesystem::path GenerationFolder(const std::filesystem::path& collection, int generation);

// The generation that is searched.  Throws Error where there is none, or it is
// damaged, saying what to do.
int CurrentGeneration(const std::filesystem::path& collection);

// All that are complete, ascending.
std::vector<int> Generations(const std::filesystem::path& collection);

// Throws Error where a generation is not complete, naming those that are.
void CheckComplete(const std::filesystem::path& collection, int generation);

// Makes a generation the current one.  Throws Error where it is not complete.
void SwitchTo(const std::filesystem::path& collection, int generation);

// The number a new generation gets; its folder is made under a name that
// begins with a dot, and Complete renames it.
struct Draft {
  int generation = 0;
  std::filesystem::path folder;
};
Draft BeginGeneration(const std::filesystem::path& collection);
void Complete(const std::filesystem::path& collection, const Draft& draft);

// Deletes generations older than the current one, but for `before`, which stays
// to go back to; 0: the one before the current one by number.  Newer ones wait
// for their switch.  Returns their numbers.
std::vector<int> PruneGenerations(const std::filesystem::path& collection, int before = 0);

// Held by whoever changes a collection, from its construction to its end.
// Throws Error at once where another process has it.  A killed process gives it
// back.
class WriterLock {
 public:
  explicit WriterLock(const std::filesystem::path& file);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace crossilo

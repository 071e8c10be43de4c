#pragma once

#include <atomic>
#include <filesystem>

#include "crossilo/serve/searcher.h"

namespace crossilo {

// What the page's tests search: 40 cats (silo north the even, south the odd
// ones), 15 dogs (south), 5 birds (north) and 3 odd captions (west).  Animal i
// is i % 8 bits from the word for its kind, and 20 bits more from another
// kind's.  The classes are the kinds and "group 0" to "group 9", i % 10.
// Re-ranked, animals with i % 8 = 5 are first.
inline constexpr int kAnimals[] = {40, 15, 5, 3};
inline constexpr int kAllAnimals = 40 + 15 + 5 + 3;

// Holds back the answer to the word "slow".
struct AnimalGate {
  std::atomic<int> waiting = 0, passed = 0;
  std::atomic<bool> open = false;
};

// Makes the folder with items.cxi; cat.png and dog.png, which are pictures of
// those to the coder; and notes.txt, which is none.
void MakeAnimals(const std::filesystem::path& folder);

// The gate must outlive what is opened.
OpenSite OpenAnimals(const std::filesystem::path& folder, AnimalGate* gate);

}  // namespace crossilo

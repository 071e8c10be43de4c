#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crossilo/data/dataset.h"

namespace crossilo {

// Loose arrays that are to become a dataset.  A place is a file, or file:name
// where a file holds several arrays (see ReadArray).
struct ImportOptions {
  std::string image, text;           // places; n x d, any type of number
  std::vector<std::string> labels;   // place, or level=place for a further level
  std::vector<std::string> splits;   // split=place
  std::vector<std::string> classes;  // text file, or level=file, with a class name a line
  std::string items;                 // a table as items.tsv, may be a .gz; "" for none
  bool escapes = false;              // whether its cells are escaped as in items.tsv
  std::string caption;               // the column of items that is the caption, if not "caption"
  bool transpose = false;            // features and labels hold one sample a column
  int64_t index_base = -1;           // the first sample's number in splits; -1: 1 in .mat, else 0
  uint64_t seed = 1;                 // deals the query split where none is given
  std::string name = "imported", licence, source;
};

// Labels are n x C of 0 and 1, or n class numbers from 0 or from 1, which
// become one column a class.  Without any split a fifth of the samples becomes
// the query split and the rest retrieval and training; else a missing query
// split is what no other names, a missing retrieval split what query does not
// name, and a missing training split is the retrieval split.  The dataset has
// been checked; its features are "given".
Dataset ImportArrays(const ImportOptions& options);

// The splits that are missing, as said above.  Throws Error where no row is
// left for the query split.
void CompleteSplits(int64_t n, uint64_t seed, std::map<std::string, Rows>& splits);

}  // namespace crossilo

#pragma once

#include <string>
#include <vector>

#include "crossilo/serve/searcher.h"

namespace crossilo {

// A question, coded, and the kind of thing it was made of.
struct Question {
  CodedQuery coded;
  std::string from;  // "image" or "text"
};

// All throw BadQuestion.

// Unless exactly one thing is asked, for hits that can be.
void CheckQuestion(const SearchRequest& request);
int ColumnOf(const Schema& schema, const std::string& name);
// With a code of the store's length.
Question CodeQuestion(const Store& store, const QueryCoder& coder, const SearchRequest& request,
                      int column);
// The vector that hits in the column are re-ordered by.
const std::vector<float>& RerankVector(const Schema& schema, const Question& question, int column);

}  // namespace crossilo

#include "crossilo/serve/question.h"

#include <algorithm>

#include "crossilo/base/nearest.h"

namespace crossilo {
namespace {

// What the coder refuses is about the question.
template <typename Code>
CodedQuery Coded(const Code& code) {
  try {
    return code();
  } catch (const Error& error) {
    throw BadQuestion("{}", error.what());
  }
}

Question CodeWords(const QueryCoder& coder, const std::string& words) {
  if (!coder.knows_words()) {
    throw BadQuestion("this collection's model reads no words; ask with a picture");
  }
  return {Coded([&] { return coder.Words(words); }), "text"};
}

Question CodePicture(const QueryCoder& coder, const std::string& picture) {
  if (!coder.knows_pictures()) {
    throw BadQuestion("this collection's model sees no pictures; ask with words");
  }
  return {Coded([&] { return coder.Picture(picture); }), "image"};
}

Question LikeItem(const Store& store, int64_t id, int among) {
  const auto item = store.Find(id);
  if (!item) throw BadQuestion("there is no item {} to compare with", id);
  const Schema& schema = store.schema();
  int from = -1;
  for (int column = 0; column < std::ssize(schema.columns); ++column) {
    if (item->codes[column].empty()) continue;
    if (from < 0 || column != among) from = column;
  }
  if (from < 0) throw BadQuestion("item {} has no code to compare with", id);
  Question out = {{.code = item->codes[from]}, schema.columns[from]};
  const auto& vector = from < std::ssize(item->vectors) ? item->vectors[from] : out.coded.relaxed;
  (schema.vectors == "features" ? out.coded.features : out.coded.relaxed) = vector;
  return out;
}

void CheckCode(const Schema& schema, const std::vector<std::byte>& code) {
  const Table table = {.bits = schema.bits, .dims = schema.dims};
  if (std::ssize(code) != table.row_bytes()) {
    throw BadQuestion(
        "the question's code has {} bytes, those of the collection have {}: they are of different "
        "models",
        code.size(), table.row_bytes());
  }
}

}  // namespace

void CheckQuestion(const SearchRequest& request) {
  if (request.k < 0 || request.offset < 0) {
    throw BadQuestion("{} hits from {} on are asked for; neither can be negative", request.k,
                      request.offset);
  }
  const int questions = !request.words.empty() + !request.picture.empty() + (request.like >= 0);
  if (questions == 0) throw BadQuestion("nothing is asked; give words, a picture or an item's id");
  if (questions > 1) {
    throw BadQuestion("more than one thing is asked; give words, a picture or an item's id");
  }
}

int ColumnOf(const Schema& schema, const std::string& name) {
  const auto found = std::ranges::find(schema.columns, name);
  if (found == schema.columns.end()) {
    throw BadQuestion("there is nothing to search among '{}'{}", name,
                      Suggestion(name, schema.columns));
  }
  return static_cast<int>(found - schema.columns.begin());
}

Question CodeQuestion(const Store& store, const QueryCoder& coder, const SearchRequest& request,
                      int column) {
  Question out = !request.words.empty()     ? CodeWords(coder, request.words)
                 : !request.picture.empty() ? CodePicture(coder, request.picture)
                                            : LikeItem(store, request.like, column);
  CheckCode(store.schema(), out.coded.code);
  return out;
}

const std::vector<float>& RerankVector(const Schema& schema, const Question& question, int column) {
  const std::string& among = schema.columns[column];
  if (schema.vectors.empty()) {
    throw BadQuestion("this collection stores nothing to re-rank by; ask without re-ranking");
  }
  const bool features = schema.vectors == "features";
  if (features && question.from != among) {
    throw BadQuestion(
        "this collection re-ranks by features, and those of {} and {} cannot be compared; ask "
        "without re-ranking",
        question.from, among);
  }
  const auto& vector = features ? question.coded.features : question.coded.relaxed;
  if (std::ssize(vector) != schema.vector_dims[column]) {
    throw BadQuestion(
        "the question has {} values to re-rank by, the collection's {} have {}; ask without "
        "re-ranking",
        vector.size(), among, schema.vector_dims[column]);
  }
  return vector;
}

}  // namespace crossilo

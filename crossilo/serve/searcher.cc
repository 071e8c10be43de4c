#include "crossilo/serve/searcher.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "crossilo/base/elapsed.h"
#include "crossilo/index/rerank.h"
#include "crossilo/serve/facts.h"
#include "crossilo/serve/question.h"

namespace crossilo {
namespace {

FoundItem Found(Item item, float distance) {
  item.codes.clear();
  item.vectors.clear();
  return {std::move(item), distance};
}

// A page of `k` hits from `offset` on.
struct Page {
  std::vector<FoundItem> items;
  bool more = false;  // a hit behind it
};

Page Slice(const Store& store, const std::vector<Hit>& hits, int64_t offset, int64_t k) {
  Page out;
  const int64_t end = std::min<int64_t>(offset + k, std::ssize(hits));
  for (int64_t i = offset; i < end; ++i) {
    // One that was removed since is not there.
    if (auto item = store.Find(hits[i].id)) {
      out.items.push_back(Found(std::move(*item), hits[i].distance));
    }
  }
  out.more = end < std::ssize(hits);
  return out;
}

// The same over the first hit of each caption; hits without one all count.
Page SliceDistinct(const Store& store, const std::vector<Hit>& hits, int64_t offset, int64_t k) {
  Page out;
  std::unordered_set<std::string> captions;
  int64_t seen = 0;
  for (const Hit& hit : hits) {
    auto item = store.Find(hit.id);
    if (!item) continue;
    std::string caption = CaptionOf(item->facts);
    if (!caption.empty() && !captions.insert(std::move(caption)).second) continue;
    out.more = seen >= offset + k;
    if (out.more) break;
    if (seen++ >= offset) out.items.push_back(Found(std::move(*item), hit.distance));
  }
  return out;
}

// Hits are put in a new order by thousands, so that what a page shows does not
// depend on how many were asked for: none is lost between pages or comes twice.
// The server gives out no more than the first (ApiLimits::most_hits).
constexpr int64_t kReranked = 1000;

std::vector<Hit> RerankByThousands(const Store& store, int column, std::span<const float> query,
                                   const std::vector<Hit>& hits) {
  std::vector<Hit> out;
  for (auto at = hits.begin(); at != hits.end();) {
    const auto end = at + std::min(kReranked, hits.end() - at);
    const std::vector<Hit> ranked = Rerank(store, column, query, {at, end});
    out.insert(out.end(), ranked.begin(), ranked.end());
    at = end;
  }
  return out;
}

Page FindPage(const Store& store, int column, const Question& question,
              const SearchRequest& request) {
  const Schema& schema = store.schema();
  const bool distinct = request.distinct && schema.columns[column] == "text";
  const int64_t offset = std::min(request.offset, store.size());
  const int64_t k = std::min(request.k, store.size());
  // One more than the page shows tells whether there is a next one.
  int64_t depth = offset + k + 1;
  if (request.rerank) depth = (depth + kReranked - 1) / kReranked * kReranked;
  while (true) {
    const Policy policy = {.k = depth, .radius = request.radius};
    auto hits = store.Search(column, question.coded.code, policy, request.filter)[0];
    const bool all = std::ssize(hits) < depth;
    if (request.rerank) {
      hits = RerankByThousands(store, column, RerankVector(schema, question, column), hits);
    }
    if (!distinct) return Slice(store, hits, offset, k);
    Page page = SliceDistinct(store, hits, offset, k);
    if (page.more || all) return page;
    depth *= 4;  // many share a caption: look deeper
  }
}

}  // namespace

Site::Site(std::string name, int generation, std::unique_ptr<Store> store,
           std::unique_ptr<QueryCoder> coder, std::vector<std::filesystem::path> sources)
    : name_(std::move(name)),
      generation_(generation),
      store_(std::move(store)),
      coder_(std::move(coder)),
      sources_(std::move(sources)) {}

SearchReply Site::Search(const SearchRequest& request) const {
  CheckQuestion(request);
  const Schema& schema = store_->schema();
  SearchReply reply;
  reply.among = !request.among.empty() ? request.among : request.picture.empty() ? "image" : "text";
  reply.generation = generation_;
  const int column = ColumnOf(schema, reply.among);

  auto start = std::chrono::steady_clock::now();
  const Question question = CodeQuestion(*store_, *coder_, request, column);
  reply.coding_seconds = SecondsSince(start);

  start = std::chrono::steady_clock::now();
  Page page = FindPage(*store_, column, question, request);
  reply.items = std::move(page.items);
  reply.more = page.more;
  reply.searched = store_->Count(column, request.filter);
  reply.index = store_->index_kind(column);
  reply.measure = request.rerank || schema.dims > 0 ? "cosine" : "bits";
  reply.search_seconds = SecondsSince(start);
  return reply;
}

}  // namespace crossilo

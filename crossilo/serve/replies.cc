#include "crossilo/serve/replies.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "crossilo/serve/facts.h"
#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

template <typename... Args>
void Put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

void PutText(std::string& out, std::string_view before, std::string_view text) {
  out += before;
  AppendJson(out, text);
}

template <typename List, typename Write>
void PutList(std::string& out, const List& list, const Write& write) {
  out += '[';
  bool first = true;
  for (const auto& entry : list) {
    if (!first) out += ',';
    first = false;
    write(entry);
  }
  out += ']';
}

// The fields that a hit and an item share, without the braces.
void PutItem(std::string& out, const Item& item) {
  const Facts facts = ReadFacts(item.facts);
  Put(out, R"("id":"{}")", item.id);
  PutText(out, R"(,"name":)", facts.name);
  PutText(out, R"(,"caption":)", facts.caption);
  PutText(out, R"(,"silo":)", item.silo);
  out += R"(,"classes":)";
  PutList(out, item.classes, [&](const std::string& name) { AppendJson(out, name); });
  if (facts.picture.empty()) {
    out += R"(,"picture":"")";
  } else {
    Put(out, R"(,"picture":"/api/pictures/{}")", item.id);
  }
  out += R"(,"facts":)";
  out += facts.other;
}

// A file may hold rows whose distance is no number; JSON has none such, and 2
// is as far as cosine goes.
float Sound(float distance) { return std::isfinite(distance) ? distance : 2; }

void PutCounts(std::string& out, const std::vector<std::pair<std::string, int64_t>>& counts) {
  PutList(out, counts, [&](const auto& entry) {
    PutText(out, R"({"name":)", entry.first);
    Put(out, R"(,"items":{}}})", entry.second);
  });
}

}  // namespace

std::string HealthJson(const Site& site) {
  return fmt::format(R"({{"status":"ok","generation":{}}})", site.generation());
}

std::string InfoJson(const Site& site, const ApiLimits& limits) {
  const Store& store = site.store();
  const Schema& schema = store.schema();
  std::string out;
  PutText(out, R"({"name":)", site.name());
  Put(out, R"(,"generation":{},"items":{},"bits":{},"dims":{},"columns":)", site.generation(),
      store.size(), schema.bits, schema.dims);
  int column = 0;
  PutList(out, schema.columns, [&](const std::string& name) {
    PutText(out, R"({"name":)", name);
    Put(out, R"(,"items":{},"index":"{}"}})", store.Count(column, {}), store.index_kind(column));
    ++column;
  });
  out += R"(,"silos":)";
  PutCounts(out, store.Silos());
  out += R"(,"classes":)";
  PutCounts(out, store.Classes());
  Put(out, R"(,"asks":{{"words":{},"pictures":{}}})", site.coder().knows_words(),
      site.coder().knows_pictures());
  PutText(out, R"(,"rerank":)", schema.vectors);
  Put(out, R"(,"limits":{{"hits":{},"characters":{},"bytes":{}}}}})", limits.most_hits,
      limits.most_words, limits.most_bytes);
  return out;
}

std::string SearchJson(const SearchRequest& request, const SearchReply& reply) {
  std::string out;
  out.reserve(256 + 512 * reply.items.size());
  PutText(out, R"({"among":)", reply.among);
  out += R"(,"hits":)";
  PutList(out, reply.items, [&](const FoundItem& found) {
    out += '{';
    PutItem(out, found.item);
    Put(out, R"(,"distance":{}}})", Sound(found.distance));
  });
  Put(out, R"(,"offset":{},"more":{},"searched":{})", request.offset, reply.more, reply.searched);
  Put(out, R"(,"seconds":{{"coding":{:.6f},"search":{:.6f}}},"generation":{})",
      reply.coding_seconds, reply.search_seconds, reply.generation);
  PutText(out, R"(,"index":)", reply.index);
  PutText(out, R"(,"measure":)", reply.measure);
  out += '}';
  return out;
}

std::string ItemJson(const Item& item) {
  std::string out = "{";
  PutItem(out, item);
  out += '}';
  return out;
}

}  // namespace crossilo

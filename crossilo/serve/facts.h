#pragma once

#include <string>
#include <string_view>

namespace crossilo {

// What an item's facts say (see Item::facts).  They may come from a stranger's
// file: what is no JSON object has no facts, and what has another type than it
// should counts as missing.
struct Facts {
  std::string name, caption;
  std::string picture;  // a path below a source; "": none
  int source = 0;       // which; -1: none that there could be
  std::string other;    // every other key, as a JSON object; "{}": none
};

Facts ReadFacts(std::string_view json);

// Only the caption, for whoever looks at many items.
std::string CaptionOf(std::string_view json);

}  // namespace crossilo

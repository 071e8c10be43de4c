#pragma once

#include <memory>

#include "crossilo/embed/embedder.h"
#include "crossilo/models/bundle.h"
#include "crossilo/serve/searcher.h"

namespace crossilo {

// Codes questions with a bundle's model and embedders.  Backbone files are
// looked for in `folders`.  Questions in words that come at the same time are
// coded together: the model's weights then pass through the caches once for
// all of them.  A question has the same code whatever it was coded with.
std::unique_ptr<QueryCoder> MakeQueryCoder(const Bundle& bundle, const Folders& folders);

// What a store keeps of relaxed codes, rows of bits or of floats one after
// another: see Table in index/index.h.
std::vector<std::byte> StoredRows(const torch::Tensor& relaxed, bool real_valued);

}  // namespace crossilo

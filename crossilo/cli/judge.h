#pragma once

#include "crossilo/eval/evaluate.h"
#include "crossilo/models/hash_model.h"

namespace crossilo {

// Which samples ask and which are asked for.
struct JudgedRows {
  Rows query, retrieval;
};

// How well a model finds text by image and image by text.
struct Scores {
  Report i2t, t2i;
};

// Encodes both modalities of both sets and ranks: by Hamming distance, or by
// cosine where the model is real-valued.  Without labels of that level the
// right answer is the other half of the query's own pair.
Scores Judge(const HashModel& model, bool real_valued, const Dataset& dataset,
             const std::string& level, const JudgedRows& rows, const EvaluateOptions& options);

// Measure by measure.  At least one.
Scores MeanOf(const std::vector<Scores>& scores);

}  // namespace crossilo

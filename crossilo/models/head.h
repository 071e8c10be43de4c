#pragma once

#include <memory>
#include <string>

#include "crossilo/models/hash_model.h"

namespace crossilo {

// FedCAFE's adaptive feature enhancement (Eq. 3 and 4).  With O the model's
// output, or what its activation reads where `before_activation`:
//   Lhat = softmax(classifier(O)),  V_m = Lhat P_g,  code = O + tanh(O) * V_m
// The context's "memory" is P_g, classes x dims; without one V_m is 0.
std::unique_ptr<Head> MakeMemoryHead(int64_t classes, int64_t dims, bool before_activation);

// FedX's prediction heads: of each modality Linear(dims, width), ReLU,
// Linear(width, dims).  They are trained and travel with the weights; codes stay
// as they are.
std::unique_ptr<Head> MakePredictionHead(int64_t dims, int64_t width);
// That head as it described itself, or null where another did.
std::unique_ptr<Head> PredictionHeadFrom(const std::string& description, int64_t dims);
// What a model's prediction head makes of codes, one row a sample.
torch::Tensor Predict(const HashModel& model, Modality modality, const torch::Tensor& u);

// The head that a description asks for, sized for the model.  Throws Error on
// one that is not known.
std::unique_ptr<Head> MakeHead(const std::string& description, const HashModel& model);

}  // namespace crossilo

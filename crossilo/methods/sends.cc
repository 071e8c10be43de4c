#include "crossilo/methods/sends.h"

#include <map>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

// "w/image.hash.weight" and "image.hash.weight" are weights, "d/..." are a
// method's "d"; "synthesis/generator/0.weight" is of "synthesis/generator", and
// anything else is itself.
std::string GroupOf(const std::string& name, const HashModel& model) {
  const size_t slash = name.find('/');
  const std::string rest = slash == std::string::npos ? name : name.substr(slash + 1);
  if (model.parameters().count(rest) == 0) {
    const size_t last = name.rfind('/');
    return last == slash ? name : name.substr(0, last);
  }
  if (slash == std::string::npos || name.starts_with("w/")) return "weights";
  return name.substr(0, slash) + " of weights";
}

std::string ShapeOf(const std::vector<torch::Tensor>& tensors) {
  if (tensors.size() > 1) return std::to_string(tensors.size()) + " tensors";
  std::string shape;
  for (int64_t size : tensors.front().sizes()) {
    shape += (shape.empty() ? "" : " x ") + std::to_string(size);
  }
  return shape.empty() ? "1" : shape;
}

void List(const TensorMap& message, const HashModel& model, bool up, bool in_sum,
          std::vector<Sent>& sent) {
  std::map<std::string, std::vector<torch::Tensor>> groups;
  for (const auto& [name, tensor] : message) groups[GroupOf(name, model)].push_back(tensor);
  for (const auto& [what, tensors] : groups) {
    Sent s{.what = what, .shape = ShapeOf(tensors), .up = up, .in_sum = in_sum};
    for (const torch::Tensor& t : tensors) s.bytes += t.numel() * t.element_size();
    sent.push_back(s);
  }
}

}  // namespace

std::vector<Sent> WhatItSends(const Method& method) {
  const ModelShape shape{512, 1000, 10};
  const Config table = Config::Parse("", "the defaults");
  const Config unit = Config::Parse("input = 'unit'", "the model's");
  Random random(1);
  Silo silo;
  silo.all = {RandomNormal({20, shape.image_dims}, random),
              RandomNormal({20, shape.text_dims}, random), torch::eye(10).repeat({2, 1})};
  const auto make = [&] {
    // Scaled inputs: only then is a generator of such fit to be sent so early.
    auto model = NewModel(FindModel("dcmh"), shape, unit, Random(1));
    if (method.prepare != nullptr) method.prepare(*model, table, 1);
    return model;
  };
  const auto model = make();
  const TrainingOptions training{
      .rounds = 2, .local_epochs = 1, .optimizer = {.kind = "adam", .learning_rate = 1e-3}};
  const auto client = method.make_client({silo, *model, training, 1, 1}, table);
  const auto server =
      method.make_server({Weights(*model), 1, shape, model->code_dims(), 1, training, make}, table);
  std::vector<Sent> sent;
  for (int round = 1; round <= 2; ++round) {
    sent.clear();
    const bool replied = server->exchange() == Exchange::kReplied;
    const TensorMap before = replied ? TensorMap{} : server->Broadcast(0);
    if (!replied) client->Receive(before);
    const Update update = client->Train(round);
    if (server->exchange() == Exchange::kOneByOne) server->Arrived(0, update.gathered);
    server->Merge({.mean = update.sums, .gathered = {{0, update.gathered}}});
    const TensorMap after = replied ? server->Broadcast(0) : TensorMap{};
    if (replied) client->Receive(after);
    List(update.sums, *model, true, true, sent);
    List(update.gathered, *model, true, false, sent);
    List(replied ? after : before, *model, false, false, sent);
  }
  return sent;
}

}  // namespace crossilo
